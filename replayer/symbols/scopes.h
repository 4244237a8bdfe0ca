/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scopes.h - which function, and which blocks of it, code is of
 *
 * A function may stand anywhere in a unit's debugging information: in a
 * namespace, a class, or another function, whose code is elsewhere (closures,
 * methods of local classes, nested functions).
 *
 * Units:      addresses are as in the debugging information.
 * Ownership:  scope_tables_release() frees.
 * Errors:     none; without memory, nothing is known.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SCOPES_H
#define CPREC_REPLAYER_SYMBOLS_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"

/* How deep scopes may be nested in a file that makes sense. */
#define SCOPES_MOST 64u

/* Functions of units that somebody asked for. */
struct scope_tables {
	struct scope_table *list;
	size_t count, room;
	struct number_map by_unit;
};

void scope_tables_release(struct scope_tables *tables);

/*
 * The function with that code of a unit, the blocks and inlined functions in it
 * that have it, down to the innermost.  Returns how many: 0, of no function.
 */
size_t scopes_find(struct scope_tables *tables, Dwarf_Die *unit, uint64_t addr,
		   Dwarf_Die out[SCOPES_MOST]);

/*
 * Visits the functions of a unit that have code, once for each part of it.  A
 * result other than 0 ends the visits and is returned.
 */
int scopes_each_function(struct scope_tables *tables, Dwarf_Die *unit,
			 int (*visit)(void *context, Dwarf_Die *function),
			 void *context);

/* As dwarf_siblingof(), which may go back in a file that makes no sense. */
int die_sibling(Dwarf_Die *die, Dwarf_Die *out);

#endif
