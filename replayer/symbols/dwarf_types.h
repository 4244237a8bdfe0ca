/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_types.h - where types have atomic parts, and pointers that lead to some
 *
 * Types are numbered as they are met.  What is in them is found by
 * dwarf_types_settle(), when all are met that somebody asks for.
 *
 * Units:      offsets and sizes are bytes.
 * Ownership:  dwarf_types_release() frees; a zeroed structure is empty.  The
 *             debugging information is borrowed.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_TYPES_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"

#define TYPE_NONE SIZE_MAX

/* Of an object: an atomic one, a pointer, or an atomic pointer. */
struct dwarf_part {
	uint64_t offset;
	uint64_t size;		/* of an atomic part; else 0 */
	size_t pointee;		/* type that a pointer points to; TYPE_NONE */
};

struct dwarf_type {
	Dwarf_Die die;
	struct dwarf_part *parts;
	size_t count, room;
	bool leads;		/* has an atomic part, or leads to one */
};

struct dwarf_types {
	struct dwarf_type *list;
	size_t count, room;
	size_t settled;		/* so many have their parts */
	struct number_map numbers;	/* of types, by their entries */
};

/*
 * The number of a type; TYPE_NONE in `*out` if it is none that has parts of
 * interest, whatever they are.
 */
int dwarf_types_number(struct dwarf_types *types, Dwarf_Die *type,
		       size_t *out);

/* The type that an entry of a variable, a member or a pointer says. */
bool dwarf_type_of(Dwarf_Die *entry, Dwarf_Die *out);

/* The address of a variable that is always at the same one. */
bool dwarf_fixed_address(Dwarf_Die *variable, uint64_t *out);

/* Whether a class is one of those that C++ has for atomic objects. */
bool dwarf_type_is_atomic_class(Dwarf_Die *type);

/* Whether an object of the type is atomic; names are looked behind. */
bool dwarf_type_is_atomic(Dwarf_Die *type);

/* How an object of a type is gone through. */
struct dwarf_walk {
	int (*visit)(void *context, Dwarf_Die *type, uint64_t offset);
	void *context;
	uint64_t elements;	/* of an array, no more are looked at */
};

/*
 * Visits what an object at `offset` is made of, down to what is atomic or has
 * no members and elements.  A result other than 0 ends it and is returned.
 */
int dwarf_type_walk(const struct dwarf_walk *walk, Dwarf_Die *type,
		    uint64_t offset);

/* Finds the parts of all; drops pointers that lead to nothing atomic. */
int dwarf_types_settle(struct dwarf_types *types);

void dwarf_types_release(struct dwarf_types *types);

#endif
