/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlines.h - the functions that code at an address belongs to
 *
 * The innermost one that was inlined there, what it was inlined into, and so
 * on, up to the function that the code is of.
 *
 * Units:      addresses are as in the debugging information.
 * Ownership:  names and files are borrowed from the debugging information.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_INLINES_H
#define CPREC_REPLAYER_SYMBOLS_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#define INLINES_MOST 64u

struct inline_function {
	Dwarf_Die die;
	bool is_inlined;	/* where, is here: */
	const char *file;	/* NULL: not known */
	unsigned line;
};

struct lines;

/* Returns how many there are: 0 if nothing is known of the address. */
size_t inlines_find(struct lines *lines, Dwarf_Die *unit, uint64_t addr,
		    struct inline_function out[INLINES_MOST]);

#endif
