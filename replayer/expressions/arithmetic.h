/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arithmetic.h - operators with two sides, as in C
 *
 * Errors:     ERR_INPUT (it cannot be done), those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_ARITHMETIC_H
#define CPREC_REPLAYER_EXPRESSIONS_ARITHMETIC_H

#include "replayer/expressions/values.h"

enum operator {
	OPERATOR_OR_ELSE, OPERATOR_AND_THEN, OPERATOR_OR, OPERATOR_XOR,
	OPERATOR_AND, OPERATOR_EQUAL, OPERATOR_UNEQUAL, OPERATOR_LESS,
	OPERATOR_GREATER, OPERATOR_AT_MOST, OPERATOR_AT_LEAST, OPERATOR_LEFT,
	OPERATOR_RIGHT, OPERATOR_REPEAT, OPERATOR_PLUS, OPERATOR_MINUS,
	OPERATOR_TIMES, OPERATOR_DIVIDE, OPERATOR_MODULO,
};

int arithmetic(struct context *context, enum operator operator,
	       struct value *left, struct value *right, struct value *out,
	       struct failure *why);

/*
 * The same of numbers, all of it in this type.  False: it cannot be done, as a
 * division by zero.  Comparisons give 0 or 1.
 */
bool arithmetic_integers(enum operator operator, const struct type *type,
			 int64_t left, int64_t right, int64_t *out);

/* `*truth` is what a comparison gives, `*out` what others do. */
bool arithmetic_doubles(enum operator operator, long double left,
			long double right, long double *out, int64_t *truth);

/* Compares, adds or subtracts. */
bool arithmetic_addresses(enum operator operator, uint64_t left,
			  uint64_t right, int64_t *out);

#endif
