/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conventions.h - where functions find arguments, and leave results
 *
 * As compilers of C and C++ agree, by the types alone.  What is AArch64's own, its
 * register table says; structures of floating point in its registers are not
 * told apart from those of x86-64.
 *
 * Source: System V ABI, AMD64 supplement, 3.2.3, and Intel386 supplement, 2.2;
 * Itanium C++ ABI, 3.1; Procedure Call Standard for the Arm 64-bit Architecture,
 * 6.8.
 *
 * Ownership:  bytes are of the context (context_take()).
 * Errors:     those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_H
#define CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_H

#include "replayer/expressions/arguments.h"
#include "replayer/expressions/values.h"

/* Before the arguments: the result may need a place, which is one of them. */
int argument_of_result(struct context *context, struct arguments *taken,
		       struct type *result, struct failure *why);

/*
 * The value of the next argument, where the context stands at a function's
 * first instruction.
 */
int argument_next(struct context *context, struct arguments *taken,
		  struct type *type, struct value *out, struct failure *why);

/* What a function has returned, where it returned to. */
int result_of(struct context *context, struct type *type, struct value *out,
	      struct failure *why);

#endif
