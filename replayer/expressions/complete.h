/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete.h - what the beginning of an expression may become
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_COMPLETE_H
#define CPREC_REPLAYER_EXPRESSIONS_COMPLETE_H

#include "replayer/expressions/context.h"

/* As expressions_complete(), at the context's place. */
void complete(struct context *context, const char *typed,
	      void (*visit)(void *opaque, const char *text), void *opaque);

#endif
