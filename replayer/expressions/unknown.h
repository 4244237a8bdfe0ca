/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unknown.h - why a name means nothing where it is asked for
 *
 * It may be a variable of another function, one of each thread, a type, or
 * mistyped.  All of these only add to a sentence that says what is missing.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_UNKNOWN_H
#define CPREC_REPLAYER_EXPRESSIONS_UNKNOWN_H

#include "replayer/expressions/context.h"

struct failure;

/* Adds what may be meant by a name that was not found. */
void unknown_explain(struct context *context, const char *name,
		     struct failure *why);

/* Adds what type may be meant: "struct node" for "struct nod". */
void unknown_type(struct context *context, const char *name,
		  struct failure *why);

#endif
