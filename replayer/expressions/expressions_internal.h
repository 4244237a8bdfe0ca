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

#endif
