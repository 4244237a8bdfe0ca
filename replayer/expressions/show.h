/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show.h - a value as text, as gdb prints it
 *
 * Errors:     ERR_NO_MEMORY, ERR_INPUT (the format does not fit); those of
 *             values.h for the value itself.  What a pointer in it leads to
 *             need not be known.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_SHOW_H
#define CPREC_REPLAYER_EXPRESSIONS_SHOW_H

#include <stdio.h>

#include "replayer/expressions/values.h"

/*
 * Writes the value; `format` is 0 or one of "xduotcfsa", applied to all the
 * numbers in it.  What cannot be read is said in the text, if it is a part.
 */
int show(struct context *context, struct value *value, char format, FILE *out,
	 struct failure *why);

/* The same, as gdb does in lists of variables: pointers without their types. */
int show_listed(struct context *context, struct value *value, FILE *out,
		struct failure *why);

/*
 * As gdb does of arguments in a backtrace: of what has parts, "..."; of
 * containers, what they are.
 */
int show_brief(struct context *context, struct value *value, FILE *out,
	       struct failure *why);

#endif
