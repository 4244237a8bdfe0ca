/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_access.h - accesses to memory, as text and as JSON
 *
 * Errors:     those of history.h.
 */
#ifndef CPREC_TOOLS_PRINT_ACCESS_H
#define CPREC_TOOLS_PRINT_ACCESS_H

#include <jansson.h>

#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

struct access_printing {
	struct recording *recording;
	struct lines *lines;
	uint64_t addr, size;	/* what was asked for */
	unsigned bit_offset, bit_size;	/* bits of it, if not 0: numbers that */
	bool is_signed;
	const char *type;	/* of it, as in the program; NULL: not known */
	bool json;
};

int print_register_write(const struct access_printing *printing,
			 const struct reg_info *info,
			 const struct register_write *write,
			 struct failure *why);

/* "t=12: 0x401136 in main at hello.c:3, read()", of where and by whom. */
int print_access_place(const struct access_printing *printing,
		       const struct history_access *access,
		       struct failure *why);

/* The same as a new object. */
int access_place_object(const struct access_printing *printing,
			const struct history_access *access, json_t **out,
			struct failure *why);

int print_access(const struct access_printing *printing,
		 const struct history_access *access, struct failure *why);

#endif
