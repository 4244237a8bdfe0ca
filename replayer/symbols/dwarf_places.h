/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_places.h - what debugging information says of atomics, for code
 *
 * Of a range of code either that it is part of a function for atomic objects,
 * inlined or not, or where a variable is in it whose type has atomic parts or
 * leads to some.
 *
 * Units:      addresses are the guest's, registers are numbered as in DWARF.
 * Ownership:  dwarf_places_release() frees; a zeroed structure is empty.  The
 *             debugging information is borrowed.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_PLACES_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "replayer/symbols/dwarf_types.h"

enum dwarf_place_kind {
	PLACE_FUNCTION,		/* accesses an atomic object of `size` */
	PLACE_VALUE,		/* what a variable holds is BASE + offset */
	PLACE_MEMORY,		/* a variable is at BASE + offset */
};

enum dwarf_base {
	BASE_NONE,		/* 0 */
	BASE_REGISTER,
	BASE_FRAME,		/* the canonical frame address */
};

struct dwarf_place {
	uint64_t start, end;	/* of the code */
	enum dwarf_place_kind kind;
	uint64_t size;		/* PLACE_FUNCTION; 0: any */
	enum dwarf_base base;
	unsigned reg;		/* BASE_REGISTER */
	uint64_t offset;
	size_t type;		/* of the variable */
};

/* A variable that is always at the same address. */
struct dwarf_variable {
	uint64_t addr;
	size_t type;
};

struct dwarf_places {
	struct dwarf_types types;
	struct dwarf_place *list;	/* sorted by `start` */
	size_t count, room;
	uint64_t longest;	/* bytes of code that a place is for */
	struct dwarf_variable *variables;
	size_t variable_count, variable_room;
};

/* Adds what a module says, to whose addresses `bias` is added. */
int dwarf_places_add(struct dwarf_places *places, Dwarf *dwarf, uint64_t bias);

/* After the last one. */
int dwarf_places_settle(struct dwarf_places *places);

/*
 * Visits the places for the code at `pc`; a visit that returns an error ends
 * it.
 */
int dwarf_places_each(const struct dwarf_places *places, uint64_t pc,
		      int (*visit)(void *context,
				   const struct dwarf_place *place),
		      void *context);

void dwarf_places_release(struct dwarf_places *places);

#endif
