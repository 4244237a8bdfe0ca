/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_units.h - what a module's file says of the part that has an address
 *
 * Ownership:  texts are the file's, and last as long as the lines.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_CODE_UNITS_H
#define CPREC_REPLAYER_SYMBOLS_CODE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct lines;

struct code_unit {
	const char *section;	/* ".text"; NULL: it is not known */

	/* Of the debugging information; NULL: there is none. */
	const char *file, *directory;
	const char *language;	/* "c++", as gdb calls it; NULL: another one */
	const char *producer;	/* "GNU C17 12.2.0 -g" */
	unsigned dwarf;		/* version */
	bool has_macros;
};

/* False if nobody knows anything of it. */
bool code_unit_find(struct lines *lines, uint64_t t, uint64_t addr,
		    struct code_unit *out);

#endif
