/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_access.h - accesses to memory, as text and as JSON
 *
 * Errors:     those of history.h.
 */
#ifndef CPREC_TOOLS_PRINT_ACCESS_H
#define CPREC_TOOLS_PRINT_ACCESS_H

#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

struct access_printing {
	struct recording *recording;
	struct lines *lines;
	uint64_t addr, size;	/* what was asked for */
	const char *type;	/* of it, as in the program; NULL: not known */
	bool json;
};

int print_register_write(const struct access_printing *printing, unsigned reg,
			 const struct register_write *write,
			 struct failure *why);

int print_access(const struct access_printing *printing,
		 const struct history_access *access, struct failure *why);

#endif
