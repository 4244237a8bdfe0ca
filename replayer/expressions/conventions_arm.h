/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conventions_arm.h - arguments and results of 32-bit ARM
 *
 * With registers of floating point, as Debian's armhf has them.  Functions with
 * any number of arguments, which do without, are not told apart.
 *
 * Source: Procedure Call Standard for the Arm Architecture, 6.4, 6.5, 7.1 and
 * 7.2.
 *
 * As conventions.h.  `is_copy`: of an object, its address is passed.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_ARM_H
#define CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_ARM_H

#include "replayer/expressions/arguments.h"
#include "replayer/expressions/values.h"

int arm_argument_of_result(struct context *context, struct arguments *taken,
			   struct type *result, bool is_copy,
			   struct failure *why);
int arm_argument(struct context *context, struct arguments *taken,
		 struct type *type, bool is_copy, struct value *out,
		 struct failure *why);
int arm_result(struct context *context, struct type *type, bool is_copy,
	       struct value *out, struct failure *why);

#endif
