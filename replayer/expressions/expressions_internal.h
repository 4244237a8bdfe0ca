/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expressions_internal.h - what expressions.h hides */
#ifndef CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_INTERNAL_H

#include "replayer/expressions/context.h"
#include "replayer/expressions/expressions.h"

/* call_values.c: what is known of functions, by their entries. */
struct signatures {
	struct number_map by_entry;	/* addresses of `struct signature` */
};

void signatures_release(struct signatures *signatures);

struct expressions {
	struct context context;
	struct signatures signatures;
};

/* expressions.c: the sign in "NAME+8", which is an address; else NULL. */
const char *expression_offset(const char *text);

/* expressions.c: what is wrong with a part of the text, in a sentence. */
int expression_explain(const char *text, int rc, struct failure *why);

#endif
