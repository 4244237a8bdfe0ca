/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.h - the part of debugging information that code belongs to
 *
 * libdw looks in a list of which code is where; but Clang does not write one, and
 * in one that there is, libdw finds the unit before code that belongs to none.
 * So tables are made of what the units themselves say, each when it is first
 * asked for.
 *
 * Ownership:  unit_tables_release() frees, and ends all units; a zeroed structure
 *             is empty.  Debugging information is borrowed until then.
 * Errors:     none; without memory, no unit is found.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_UNITS_H
#define CPREC_REPLAYER_SYMBOLS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct unit_table;

struct unit_tables {
	struct unit_table **list;
	size_t count, room;
};

/* The unit that covers `addr`, as in the debugging information, or NULL. */
Dwarf_Die *unit_at(struct unit_tables *tables, Dwarf *dwarf, uint64_t addr);

/*
 * The unit that covers the code at `addr`, as in the module's file, or NULL.
 * Less `*bias`, the address is as in the debugging information.
 */
Dwarf_Die *unit_find(struct unit_tables *tables, Dwfl_Module *module,
		     uint64_t addr, uint64_t *bias);

void unit_tables_release(struct unit_tables *tables);

#endif
