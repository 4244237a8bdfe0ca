/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * type_writing.h - how types are written: their names, and what is in them
 *
 * As gdb does: `show` says how much of a class or an enumeration.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_TYPE_WRITING_H
#define CPREC_REPLAYER_EXPRESSIONS_TYPE_WRITING_H

#include "replayer/expressions/types.h"

enum type_show {
	SHOW_NAMES = -1,	/* "{...}" of what has no name */
	SHOW_NAMELESS,		/* members of what has none */
	SHOW_MEMBERS,		/* ... of all; names of typedefs are resolved */
};

struct type_writing {
	FILE *out;
	enum type_show show;
	unsigned level;		/* so far to the right */
};

/* type_names.c: a declaration, "char *name[3]"; `name` may be "". */
void type_declare(const struct type_writing *to, struct type *type,
		  const char *name);

/* The name of a type's entry with its scopes, without "struct". */
void type_write_name(FILE *out, struct type *type, Dwarf_Die *named);

/* type_bodies.c: a class, union or enumeration with what is in it. */
void type_write_body(const struct type_writing *to, struct type *type);

#endif
