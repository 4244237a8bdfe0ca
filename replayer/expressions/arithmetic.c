/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arithmetic.c - see arithmetic.h */
#include "replayer/expressions/arithmetic.h"

#include <math.h>

#include "formats/error.h"

static bool is_comparison(enum operator operator)
{
	return OPERATOR_EQUAL <= operator && operator <= OPERATOR_AT_LEAST;
}

static bool is_truth(enum operator operator)
{
	return operator <= OPERATOR_AND_THEN || is_comparison(operator);
}

/* What is true is 1 in C. */
static int truth(struct context *context, const struct value *left,
		 bool is_true, struct value *out, struct failure *why)
{
	return value_of_integer(context, out,
		type_by_words(&context->types,
			      left->type->language == LANGUAGE_C ? "int" :
								   "bool"),
		is_true, why);
}

static bool compare(enum operator operator, int order)
{
	switch (operator) {
	case OPERATOR_EQUAL:
		return order == 0;
	case OPERATOR_UNEQUAL:
		return order != 0;
	case OPERATOR_LESS:
		return order < 0;
	case OPERATOR_GREATER:
		return order > 0;
	case OPERATOR_AT_MOST:
		return order <= 0;
	default:
		return order >= 0;
	}
}

static int cannot(struct failure *why)
{
	return failed(why, ERR_INPUT, "the operator does not fit its operands");
}

/* ------- floating point ------- */

static int of_doubles(struct context *context, enum operator operator,
		      struct value *left, struct value *right,
		      struct value *out, struct failure *why)
{
	long double a, b, result;
	struct type *type = left->type;
	int rc = value_double(context, left, &a, why);

	if (!rc)
		rc = value_double(context, right, &b, why);
	if (rc)
		return rc;
	if (is_comparison(operator))
		return truth(context, left, isnan(a) || isnan(b) ?
			     operator == OPERATOR_UNEQUAL :
			     compare(operator, (a > b) - (a < b)), out, why);
	switch (operator) {
	case OPERATOR_PLUS:
		result = a + b;
		break;
	case OPERATOR_MINUS:
		result = a - b;
		break;
	case OPERATOR_TIMES:
		result = a * b;
		break;
	case OPERATOR_DIVIDE:
		result = a / b;
		break;
	default:
		return cannot(why);
	}
	if (type->kind != TYPE_FLOAT ||
	    (right->type->kind == TYPE_FLOAT &&
	     right->type->size > type->size))
		type = right->type;
	return value_of_double(context, out, type, result, why);
}

/* ------- integers ------- */

/* Both are brought to this type first. */
static struct type *common_type(struct context *context,
				const struct type *left,
				const struct type *right)
{
	bool is_long = left->size > 4 || right->size > 4;
	bool is_unsigned =
		(!left->is_signed && left->size >= (is_long ? 8 : 4)) ||
		(!right->is_signed && right->size >= (is_long ? 8 : 4));

	return type_by_words(&context->types,
			     is_long ? is_unsigned ? "unsigned long" : "long" :
			     is_unsigned ? "unsigned int" : "int");
}

static uint64_t shift(enum operator operator, const struct type *type,
		      uint64_t a, uint64_t b)
{
	if (b >= type->size * 8)
		return 0;
	if (operator == OPERATOR_LEFT)
		return a << b;
	return type->is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
}

static bool divide(enum operator operator, bool is_signed, uint64_t a,
		   uint64_t b, uint64_t *out)
{
	bool rest = operator == OPERATOR_MODULO;

	if (!b)
		return false;
	if (!is_signed)
		*out = rest ? a % b : a / b;
	else if (b == UINT64_MAX)
		*out = rest ? 0 : -a;
	else
		*out = (uint64_t)(rest ? (int64_t)a % (int64_t)b :
					 (int64_t)a / (int64_t)b);
	return true;
}

/* Cut to the size that the type has. */
static uint64_t wrap(const struct type *type, uint64_t value)
{
	if (type->size >= 8)
		return value;
	return type->is_signed ? (uint64_t)(int64_t)(int32_t)value :
				 (uint32_t)value;
}

static int of_integers(struct context *context, enum operator operator,
		       struct value *left, struct value *right,
		       struct value *out, struct failure *why)
{
	struct type *type = common_type(context, left->type, right->type);
	int64_t first, second;
	uint64_t a, b, result = 0;
	int rc = value_integer(context, left, &first, why);

	if (!rc)
		rc = value_integer(context, right, &second, why);
	if (!rc && !type)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (rc)
		return rc;
	a = wrap(type, (uint64_t)first);
	b = wrap(type, (uint64_t)second);
	if (is_comparison(operator))
		return truth(context, left, compare(operator, type->is_signed ?
			((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) :
			(a > b) - (a < b)), out, why);
	switch (operator) {
	case OPERATOR_OR:
		result = a | b;
		break;
	case OPERATOR_XOR:
		result = a ^ b;
		break;
	case OPERATOR_AND:
		result = a & b;
		break;
	case OPERATOR_PLUS:
		result = a + b;
		break;
	case OPERATOR_MINUS:
		result = a - b;
		break;
	case OPERATOR_TIMES:
		result = a * b;
		break;
	case OPERATOR_LEFT:
	case OPERATOR_RIGHT:
		result = shift(operator, type, a, b);
		break;
	default:
		if (!divide(operator, type->is_signed, a, b, &result))
			return failed(why, ERR_INPUT, "division by zero");
	}
	return value_of_integer(context, out, type, wrap(type, result), why);
}

/* ------- pointers ------- */

static bool is_pointer(const struct value *value)
{
	return value->type->kind == TYPE_POINTER ||
	       value->type->kind == TYPE_ARRAY;
}

static uint64_t size_of_target(struct value *pointer)
{
	struct type *target = type_target(pointer->type);

	return target && target->size && target->kind != TYPE_VOID ?
		       target->size : 1;
}

static int of_pointers(struct context *context, enum operator operator,
		       struct value *left, struct value *right,
		       struct value *out, struct failure *why)
{
	struct value *pointer = is_pointer(left) ? left : right;
	uint64_t size = size_of_target(pointer);
	struct type *target = type_target(pointer->type);
	int64_t a, b;
	int rc = value_integer(context, left, &a, why);

	if (!rc)
		rc = value_integer(context, right, &b, why);
	if (rc)
		return rc;
	if (is_comparison(operator))
		return truth(context, left, compare(operator,
			((uint64_t)a > (uint64_t)b) -
			((uint64_t)a < (uint64_t)b)), out, why);
	if (operator == OPERATOR_MINUS && is_pointer(left) &&
	    is_pointer(right)) {
		struct type *type = type_by_words(&context->types, "long");
		uint64_t bytes = (uint64_t)a - (uint64_t)b;

		return value_of_integer(context, out, type,
			(uint64_t)((int64_t)bytes / (int64_t)size), why);
	}
	if ((operator != OPERATOR_PLUS && operator != OPERATOR_MINUS) ||
	    (operator == OPERATOR_MINUS && pointer == right) ||
	    (is_pointer(left) && is_pointer(right)))
		return cannot(why);
	if (pointer == left)
		b = (int64_t)((uint64_t)b * size);
	else
		a = (int64_t)((uint64_t)a * size);
	return value_of_integer(context, out,
		pointer->type->kind == TYPE_POINTER ? pointer->type :
			type_pointer(&context->types, target),
		operator == OPERATOR_PLUS ? (uint64_t)a + (uint64_t)b :
					    (uint64_t)a - (uint64_t)b, why);
}

/* ------- all ------- */

/* "x@3": an array that begins with x. */
static int repeat(struct context *context, struct value *left,
		  struct value *right, struct value *out, struct failure *why)
{
	int64_t count;
	int rc = value_integer(context, right, &count, why);

	if (rc)
		return rc;
	if (!left->has_addr || left->bit_size)
		return failed(why, ERR_INPUT, "what is before the '@' is not in"
			      " memory");
	if (count <= 0 || count > VALUE_MOST)
		return failed(why, ERR_INPUT, "there must be 1 to %u elements"
			      " behind the '@'", VALUE_MOST);
	*out = (struct value) {
		.type = type_array(&context->types, left->type,
				   (uint64_t)count),
		.has_addr = true, .addr = left->addr,
	};
	return out->type ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

static int both(struct context *context, enum operator operator,
		struct value *left, struct value *right, struct value *out,
		struct failure *why)
{
	long double a, b;
	int rc = value_double(context, left, &a, why);

	if (!rc)
		rc = value_double(context, right, &b, why);
	if (rc)
		return rc;
	return truth(context, left, operator == OPERATOR_OR_ELSE ?
		     a != 0 || b != 0 : a != 0 && b != 0, out, why);
}

int arithmetic(struct context *context, enum operator operator,
	       struct value *left, struct value *right, struct value *out,
	       struct failure *why)
{
	int rc;

	if (operator == OPERATOR_REPEAT)
		return repeat(context, left, right, out, why);
	rc = value_strip(context, left, why);
	if (!rc)
		rc = value_strip(context, right, why);
	if (rc)
		return rc;
	if (is_truth(operator) && !is_comparison(operator))
		return both(context, operator, left, right, out, why);
	if (is_pointer(left) || is_pointer(right))
		return of_pointers(context, operator, left, right, out, why);
	if (left->type->kind == TYPE_FLOAT || right->type->kind == TYPE_FLOAT)
		return of_doubles(context, operator, left, right, out, why);
	return of_integers(context, operator, left, right, out, why);
}
