/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operations.h - what casts, brackets and operators with one side do
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_INPUT (it cannot be done), ERR_NOT_FOUND (there is no such
 *             register); those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_OPERATIONS_H
#define CPREC_REPLAYER_EXPRESSIONS_OPERATIONS_H

#include "replayer/expressions/values.h"

/* What is in a register, or a part of one: "rax", "eax", "pc". */
int value_of_register(struct context *context, const char *name,
		      struct value *out, struct failure *why);

/* The same bytes seen otherwise, or a number of another kind. */
int value_cast(struct context *context, struct type *type, struct value *from,
	       struct value *out, struct failure *why);

/* The address of what a value is; a pointer to its type. */
int value_address(struct context *context, const struct value *value,
		  struct value *out, struct failure *why);

/* '!', '~' or '-'. */
int value_negate(struct context *context, char mark, struct value *of,
		 struct value *out, struct failure *why);

/* "of[index]"; `of` may be changed. */
int value_index(struct context *context, struct value *of, struct value *index,
		struct value *out, struct failure *why);

#endif
