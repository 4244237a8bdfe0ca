/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dies.h - what the debugging information of one module names
 *
 * Variables, functions, types and enumerators, also those inside namespaces,
 * classes and functions (of functions' variables only the static ones), by
 * their names.
 *
 * Ownership:  die_index_release() frees; a zeroed structure is empty.  The
 *             debugging information is borrowed.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_DIES_H
#define CPREC_REPLAYER_EXPRESSIONS_DIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"
#include "replayer/symbols/symbols.h"

enum die_kind {
	DIE_SCOPE,		/* a namespace */
	DIE_TYPE,
	DIE_VARIABLE,
	DIE_FUNCTION,
	DIE_ENUMERATOR,
};

#define DIE_NONE UINT32_MAX

struct die_entry {
	Dwarf_Die die;
	const char *name;	/* NULL: it has none */
	uint32_t parent;	/* number of an entry, or DIE_NONE */
	enum die_kind kind;
	bool is_declaration, is_transparent;	/* an unscoped enumeration */
};

struct die_index {
	struct die_entry *list;
	size_t count, room;
	uint32_t *by_name;	/* numbers of those that have a name */
	size_t named;
	bool is_mixed;		/* `list` is not in the order of the bytes: */
	struct number_map by_addr;	/* numbers, by where they are */
	struct number_map by_place;	/* of variables, by their addresses */
};

/* Of a variable or a parameter; NULL: it is neither, or has none. */
const char *die_variable_name(Dwarf_Die *die);

int die_index_build(struct die_index *index, Dwarf *dwarf);
void die_index_release(struct die_index *index);

/* The first of `by_name` with this name; `named` if there is none. */
size_t die_index_find(const struct die_index *index, const char *name);

/* The variable that is always at this address; NULL if there is none. */
const struct die_entry *die_index_at(const struct die_index *index,
				     uint64_t addr);

/* NULL if it is none of the index. */
const struct die_entry *die_index_entry(const struct die_index *index,
					const Dwarf_Die *die);

/* Whether a function, or a block of it, has a variable of this name. */
bool die_declares(Dwarf_Die *function, const char *name);

/* "app::Server::instance"; text that has no room is cut. */
void die_qualified_name(const struct die_index *index,
			const struct die_entry *entry, char *text, size_t room);

#endif
