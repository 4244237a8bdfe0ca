/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_tables.h - which line code is of
 *
 * Debuggers do not take each row for a place of its own: of several at one
 * address the last one counts, rows for parts of one line that only differ in
 * their discriminators are one, and what belongs to no line is of the line
 * before it.  Of several at one address, those that begin a statement come
 * first.  Whoever asks for the line of code gets it from here, so that all get
 * the same.
 *
 * Source: how gdb reads line tables and looks for an address in them.
 *
 * Units:      addresses are as in the debugging information.
 * Ownership:  row_tables_release() frees; names are those of the debugging
 *             information.
 * Errors:     none; without memory, nothing is known.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_ROW_TABLES_H
#define CPREC_REPLAYER_SYMBOLS_ROW_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"

struct code_row {
	uint64_t start, end;
	uint64_t first;		/* rows before it, without a gap, are of the
				   same line: the first of them begins here */
	const char *file;
	unsigned line;
	bool is_statement;	/* a statement begins with it */
};

/* Rows of units that somebody asked for. */
struct row_tables {
	struct row_table *list;
	size_t count, room;
	struct number_map by_unit;
};

/* The row that the code of a unit at an address is of; false if of none. */
bool row_tables_find(struct row_tables *tables, Dwarf_Die *unit, uint64_t addr,
		     struct code_row *out);

void row_tables_release(struct row_tables *tables);

#endif
