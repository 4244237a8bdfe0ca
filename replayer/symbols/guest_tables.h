/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_tables.h - unwind tables as they are in a guest's memory
 *
 * For modules whose files are not on this machine.  Tables are mapped with the
 * code, but a recording holds only what the program looked at: as a rule where
 * it threw exceptions.  What is not known of them is zeros, which no table has.
 *
 * Units:      addresses are the guest's, those in tables less by `bias`.
 * Ownership:  guest_tables_release() frees; a zeroed structure is empty.  It is
 *             for one state of the memory.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_GUEST_TABLES_H
#define CPREC_REPLAYER_SYMBOLS_GUEST_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/symbols.h"
#include "replayer/symbols/dwarf_eval.h"

struct guest_table;

struct guest_tables {
	struct guest_table *list;
	size_t count, room;
	uint64_t copied;	/* bytes; at most so many: */
};

/* Programs of 200 megabytes have some 10 of tables. */
#define GUEST_TABLES_MOST (UINT64_C(64) << 20)

/* The tables of a module; NULL if it has none, or they are not known. */
Dwarf_CFI *guest_tables_find(struct guest_tables *tables,
			     const struct symbols *module, uint64_t bias,
			     const struct guest_reader *memory);

void guest_tables_release(struct guest_tables *tables);

#endif
