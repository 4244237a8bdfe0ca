/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evaluate.h - the value of an expression, as C, C++ and Rust write them
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_INPUT (the text makes no sense), ERR_NOT_FOUND (a name);
 *             those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_EVALUATE_H
#define CPREC_REPLAYER_EXPRESSIONS_EVALUATE_H

#include "replayer/expressions/values.h"

int evaluate(struct context *context, const char *text, struct value *out,
	     struct failure *why);

/*
 * Only reads it: ERR_INPUT, and what makes no sense.  Visits what its operators
 * combine, without numbers.
 */
int evaluate_syntax(struct context *context, const char *text,
		    void (*visit)(void *opaque, const char *text, size_t size),
		    void *opaque, struct failure *why);

/* The same as evaluate(), with such visits. */
void evaluate_operands(struct context *context, const char *text,
		       void (*visit)(void *opaque, const char *text,
				     size_t size),
		       void *opaque);

#endif
