/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * float_shape.h - types that are one to four numbers of floating point alike,
 * or vectors, and nothing else: both Arms have those in registers of their own
 *
 * Source: Procedure Call Standard for the Arm Architecture, 7.1.2; for the Arm
 * 64-bit Architecture, 5.9.5 (homogeneous aggregates).
 *
 * Errors:     ERR_NO_MEMORY, those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_FLOAT_SHAPE_H
#define CPREC_REPLAYER_EXPRESSIONS_FLOAT_SHAPE_H

#include <stdbool.h>

#include "replayer/expressions/values.h"

#define FLOAT_SHAPE_MOST 4u

struct float_shape {
	unsigned align;		/* of all of the type: 4 or 8 */
	unsigned size;		/* bytes of each ... */
	unsigned count;		/* ... of which there are so many, and nothing
				   else, if `is_mixed` is not set */
	bool is_mixed;
};

/* `is_copy`: of an object, its address is passed, which is a number. */
int float_shape_of(struct context *context, struct type *type, bool is_copy,
		   struct float_shape *out, struct failure *why);

#endif
