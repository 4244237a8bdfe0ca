/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arithmetic.c - see arithmetic.h */
#include "replayer/expressions/arithmetic.h"

#include <math.h>

#include "formats/error.h"
#include "replayer/expressions/containers.h"

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

static int cannot(struct context *context, struct failure *why)
{
	return value_mistake(context, "the operator does not fit its operands",
			     why);
}

/* ------- floating point ------- */

bool arithmetic_doubles(enum operator operator, long double left,
			long double right, long double *out, int64_t *truth)
{
	if (is_comparison(operator)) {
		*truth = isnan(left) || isnan(right) ?
			operator == OPERATOR_UNEQUAL :
			compare(operator, (left > right) - (left < right));
		return true;
	}
	switch (operator) {
	case OPERATOR_PLUS:
		*out = left + right;
		return true;
	case OPERATOR_MINUS:
		*out = left - right;
		return true;
	case OPERATOR_TIMES:
		*out = left * right;
		return true;
	case OPERATOR_DIVIDE:
		*out = left / right;
		return true;
	default:
		return false;
	}
}

static int of_doubles(struct context *context, enum operator operator,
		      struct value *left, struct value *right,
		      struct value *out, struct failure *why)
{
	struct trace_step step = {
		.operation = TRACE_DOUBLES, .operator = operator,
		.left = left, .right = right,
	};
	struct type *type = left->type;
	long double a, b, result = 0;
	int64_t is_true = 0;
	int rc = value_double(context, left, &a, why);

	if (!rc)
		rc = value_double(context, right, &b, why);
	if (rc)
		return rc;
	if (!arithmetic_doubles(operator, a, b, &result, &is_true))
		return cannot(context, why);
	if (type->kind != TYPE_FLOAT ||
	    (right->type->kind == TYPE_FLOAT &&
	     right->type->size > type->size))
		type = right->type;
	if (is_comparison(operator)) {
		rc = truth(context, left, is_true, out, why);
	} else {
		step.type = type;
		rc = value_of_double(context, out, type, result, why);
	}
	if (!rc)
		trace_compute(context->trace, out, &step);
	return rc;
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

bool arithmetic_integers(enum operator operator, const struct type *type,
			 int64_t left, int64_t right, int64_t *out)
{
	uint64_t a = wrap(type, (uint64_t)left);
	uint64_t b = wrap(type, (uint64_t)right), result = 0;

	if (is_comparison(operator)) {
		*out = compare(operator, type->is_signed ?
			((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) :
			(a > b) - (a < b));
		return true;
	}
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
			return false;
	}
	*out = (int64_t)wrap(type, result);
	return true;
}

static bool is_wide(const struct value *value)
{
	return value->type->kind == TYPE_INT && value->type->size > 8;
}

static int of_integers(struct context *context, enum operator operator,
		       struct value *left, struct value *right,
		       struct value *out, struct failure *why)
{
	struct type *type = common_type(context, left->type, right->type);
	const struct trace_step step = {
		.operation = TRACE_INTEGERS, .operator = operator,
		.type = type, .left = left, .right = right,
	};
	int64_t a, b, result;
	int rc;

	if (is_wide(left) || is_wide(right))
		return failed(why, ERR_INPUT, "there is no arithmetic of 128"
			      " bits; (long) takes the lower 64");
	rc = value_integer(context, left, &a, why);
	if (!rc)
		rc = value_integer(context, right, &b, why);
	if (!rc && !type)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (rc)
		return rc;
	if (!arithmetic_integers(operator, type, a, b, &result))
		return failed(why, ERR_INPUT, "division by zero");
	rc = is_comparison(operator) ?
		truth(context, left, result, out, why) :
		value_of_integer(context, out, type, (uint64_t)result, why);
	if (!rc)
		trace_compute(context->trace, out, &step);
	return rc;
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

bool arithmetic_addresses(enum operator operator, uint64_t left,
			  uint64_t right, int64_t *out)
{
	if (is_comparison(operator))
		*out = compare(operator, (left > right) - (left < right));
	else if (operator == OPERATOR_PLUS)
		*out = (int64_t)(left + right);
	else
		*out = (int64_t)(left - right);
	return is_comparison(operator) || operator == OPERATOR_PLUS ||
	       operator == OPERATOR_MINUS;
}

/* What a pointer, or the distance of two, has for a type. */
static struct type *type_of_sum(struct context *context, struct value *left,
				struct value *right)
{
	struct value *pointer = is_pointer(left) ? left : right;

	if (is_pointer(left) && is_pointer(right))
		return type_by_words(&context->types, "long");
	return pointer->type->kind == TYPE_POINTER ? pointer->type :
		type_pointer(&context->types, type_target(pointer->type));
}

static int add_pointers(struct context *context, enum operator operator,
			struct value *left, struct value *right,
			struct value *out, struct failure *why)
{
	bool both = is_pointer(left) && is_pointer(right);
	uint64_t size = size_of_target(is_pointer(left) ? left : right);
	int64_t a, b, result;
	int rc = value_integer(context, left, &a, why);

	if (!rc)
		rc = value_integer(context, right, &b, why);
	if (rc)
		return rc;
	if ((both && operator == OPERATOR_PLUS) ||
	    (!is_pointer(left) && operator == OPERATOR_MINUS))
		return cannot(context, why);
	if (!is_pointer(left))
		a = (int64_t)((uint64_t)a * size);
	if (!is_pointer(right))
		b = (int64_t)((uint64_t)b * size);
	if (!arithmetic_addresses(operator, (uint64_t)a, (uint64_t)b, &result))
		return cannot(context, why);
	return value_of_integer(context, out,
		type_of_sum(context, left, right),
		(uint64_t)(both ? result / (int64_t)size : result), why);
}

static int compare_pointers(struct context *context, enum operator operator,
			    struct value *left, struct value *right,
			    struct value *out, struct failure *why)
{
	int64_t a, b, result;
	int rc = value_integer(context, left, &a, why);

	if (!rc)
		rc = value_integer(context, right, &b, why);
	if (rc)
		return rc;
	arithmetic_addresses(operator, (uint64_t)a, (uint64_t)b, &result);
	return truth(context, left, result, out, why);
}

static int of_pointers(struct context *context, enum operator operator,
		       struct value *left, struct value *right,
		       struct value *out, struct failure *why)
{
	bool compares = is_comparison(operator);
	int rc = compares ?
		compare_pointers(context, operator, left, right, out, why) :
		add_pointers(context, operator, left, right, out, why);
	const struct trace_step step = {
		.operation = TRACE_POINTERS, .operator = operator,
		.type = rc ? NULL : out->type, .left = left, .right = right,
		.scale = compares ? 1 : size_of_target(
			is_pointer(left) ? left : right),
	};

	if (!rc)
		trace_compute(context->trace, out, &step);
	return rc;
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
		.place = left->place, .place_offset = left->place_offset,
	};
	return out->type ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

static int both(struct context *context, enum operator operator,
		struct value *left, struct value *right, struct value *out,
		struct failure *why)
{
	const struct trace_step step = {
		.operation = TRACE_TRUTH, .operator = operator,
		.left = left, .right = right,
	};
	long double a, b;
	int rc = value_double(context, left, &a, why);

	if (!rc)
		rc = value_double(context, right, &b, why);
	if (!rc)
		rc = truth(context, left, operator == OPERATOR_OR_ELSE ?
			   a != 0 || b != 0 : a != 0 && b != 0, out, why);
	if (!rc)
		trace_compute(context->trace, out, &step);
	return rc;
}

int arithmetic(struct context *context, enum operator operator,
	       struct value *left, struct value *right, struct value *out,
	       struct failure *why)
{
	bool are_equal;
	int rc;

	if (operator == OPERATOR_REPEAT)
		return repeat(context, left, right, out, why);
	rc = value_strip(context, left, why);
	if (!rc)
		rc = value_strip(context, right, why);
	if (rc)
		return rc;
	if ((operator == OPERATOR_EQUAL || operator == OPERATOR_UNEQUAL) &&
	    container_compare_texts(context, left, right, &are_equal))
		return truth(context, type_is_class(left->type) ? left : right,
			     are_equal == (operator == OPERATOR_EQUAL), out,
			     why);
	if (is_truth(operator) && !is_comparison(operator))
		return both(context, operator, left, right, out, why);
	if (is_pointer(left) || is_pointer(right))
		return of_pointers(context, operator, left, right, out, why);
	if (left->type->kind == TYPE_FLOAT || right->type->kind == TYPE_FLOAT)
		return of_doubles(context, operator, left, right, out, why);
	return of_integers(context, operator, left, right, out, why);
}
