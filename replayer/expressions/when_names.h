/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when_names.h - in which function a condition has its variables
 *
 * Ownership:  free() what is found.
 * Errors:     ERR_INPUT (several functions have them), ERR_NO_MEMORY; those of
 *             context.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_WHEN_NAMES_H
#define CPREC_REPLAYER_EXPRESSIONS_WHEN_NAMES_H

#include "replayer/expressions/context.h"
#include "replayer/expressions/expressions.h"

/*
 * The one function that declares all names that are not those of something
 * outside of functions; NULL if there are no such names, or nobody declares
 * them.
 */
int when_find_function(struct context *context,
		       const struct when_question *question, char **out,
		       struct failure *why);

/*
 * Whether at no time all names of it are known: then it is of no use to look for
 * them before each instruction.
 */
int when_lacks_name(struct context *context,
		    const struct when_question *question, bool *out,
		    struct failure *why);

#endif
