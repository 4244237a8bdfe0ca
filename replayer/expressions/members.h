/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - members of structures, classes and unions, by name
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_NOT_FOUND: there is none; those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_MEMBERS_H
#define CPREC_REPLAYER_EXPRESSIONS_MEMBERS_H

#include "replayer/expressions/values.h"

/*
 * `out` is what `name` is in it, also a static member; bases and nameless parts
 * are looked into.  "app::Left::l" is the member of that base.
 */
int value_member(struct context *context, struct value *of, const char *name,
		 struct value *out, struct failure *why);

/* A static member of a class. */
int member_static(struct context *context, Dwarf_Die *member,
		  struct value *out, struct failure *why);

#endif
