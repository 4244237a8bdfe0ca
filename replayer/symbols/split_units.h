/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_units.h - puts split units of debugging information back into a file
 *
 * What is known of a file's skeletons (split_file.h) is copied to where the linker
 * would have put it without -gsplit-dwarf: entries are as they are there, with
 * the offsets that they have in their unit; only what refers to other sections is
 * changed, and the first entry, which gets what the skeleton had.  So whoever
 * reads the file need not know that units were split.
 *
 * Ownership:  split_units_end() frees; files that are added may be closed before.
 * Errors:     ERR_NO_MEMORY, ERR_CORRUPT; a unit that makes no sense is left out.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SPLIT_UNITS_H
#define CPREC_REPLAYER_SYMBOLS_SPLIT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "replayer/symbols/split_file.h"

struct split_units;

/* One for each skeleton, in their order. */
struct skeleton {
	uint64_t id;
	const char *name;	/* of the file, as the compiler says it; "" */
	const char *folder;	/* ... in this one; "" */
	bool is_joined;

	Dwarf_Die die;
	uint64_t offset;	/* of the unit */
};

/* NULL: there are no skeletons, or there is no memory. */
struct split_units *split_units_begin(Dwarf *dwarf);

size_t split_units_count(const struct split_units *units);
const struct skeleton *split_units_at(const struct split_units *units,
				      size_t number);

/* Takes what skeletons lack out of a file; false if that was nothing. */
bool split_units_add(struct split_units *units, const struct split_file *file);

/* A file in memory, to be closed, of the one that `elf` is; -1: none. */
int split_units_make(struct split_units *units, Elf *elf);

void split_units_end(struct split_units *units);

#endif
