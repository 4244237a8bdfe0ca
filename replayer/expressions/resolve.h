/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve.h - what a name means at a place in a program
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_NOT_FOUND; those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_RESOLVE_H
#define CPREC_REPLAYER_EXPRESSIONS_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "replayer/expressions/values.h"

/*
 * A variable, function or enumerator by debugging information: a local one, a
 * member of `this`, a static one of the file, "a::b", "function::variable",
 * "file.c:name".
 */
int resolve_name(struct context *context, const char *name, struct value *out,
		 struct failure *why);

/* A symbol of a module, also "LIBRARY!NAME": its type is not known. */
int resolve_symbol(struct context *context, const char *name,
		   struct value *out, struct failure *why);

/* "unsigned long", "struct node *", "app::Node **"; NULL if it is none. */
struct type *resolve_type(struct context *context, const char *name);

/* How a type or variable is called with its scopes. */
bool resolve_qualified(struct context *context, Dwarf_Die *die, char *text,
		       size_t room);

/* The definition of a type that is only declared. */
bool resolve_definition(struct context *context, Dwarf_Die *die);

/* How the variable that is there is described; its type. */
int resolve_address(struct context *context, uint64_t addr,
		    struct value *out, struct failure *why);

#endif
