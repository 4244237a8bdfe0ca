/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retrace.c - see retrace.h */
#include "replayer/expressions/retrace.h"

#include "replayer/expressions/arithmetic.h"
#include "replayer/expressions/values.h"

static bool is_float(const struct type *type)
{
	return type && type->kind == TYPE_FLOAT;
}

static enum trace_answer compute(const struct trace_node *node,
				 const struct trace_source *source,
				 struct trace_value *out);

/* As the type holds it. */
static int64_t cut(const struct type *type, int64_t number)
{
	unsigned unused = 64 - 8 * (unsigned)type->size;

	if (type->size >= 8 || !type->size)
		return number;
	return type->is_signed ?
		       (int64_t)((uint64_t)number << unused) >> unused :
		       (int64_t)((uint64_t)number << unused >> unused);
}

static long double real_of(const struct trace_node *node,
			   const struct trace_value *number)
{
	if (is_float(node->type))
		return number->real;
	return node->type && node->type->is_signed ?
		       (long double)number->integer :
		       (long double)(uint64_t)number->integer;
}

static bool is_true(const struct trace_node *node, const struct trace_value *number)
{
	return is_float(node->type) ? number->real != 0 : number->integer != 0;
}

static enum trace_answer read_memory(const struct trace_node *node,
				     const struct trace_source *source,
				     uint64_t addr, struct trace_value *out)
{
	uint8_t bytes[32] = { 0 };
	struct value value = { .type = (struct type *)node->type,
			       .bytes = bytes, .bit_offset = node->bit_offset,
			       .bit_size = node->bit_size };
	size_t size = node->bit_size ?
		(node->bit_offset + node->bit_size + 7) / 8 :
		(size_t)node->type->size;
	enum trace_answer answer = source->memory(source->context, addr, size,
						  bytes);

	if (answer != TRACE_TRUE)
		return answer;
	if (is_float(node->type))
		out->real = value_float(node->type, bytes);
	else
		out->integer = (int64_t)value_bits(&value);
	return TRACE_TRUE;
}

static void cast(const struct trace_node *node, const struct trace_value *from,
		 struct trace_value *out)
{
	const struct type *type = node->type;
	bool was_float = is_float(node->left->type);

	if (is_float(type)) {
		out->real = value_rounded(type, real_of(node->left, from));
		return;
	}
	out->integer = was_float ? (int64_t)from->real : from->integer;
	out->integer = type->kind == TYPE_BOOL ? out->integer != 0 :
						 cut(type, out->integer);
}

static bool of_pointers(const struct trace_node *node, int64_t a, int64_t b,
			int64_t *out)
{
	if (!node->left_points)
		a = (int64_t)((uint64_t)a * node->number);
	if (!node->right_points)
		b = (int64_t)((uint64_t)b * node->number);
	if (!arithmetic_addresses((enum operator)node->operator, (uint64_t)a, (uint64_t)b,
				  out))
		return false;
	if (node->operator == OPERATOR_MINUS && node->right_points)
		*out /= (int64_t)node->number;
	return true;
}

static bool operate(const struct trace_node *node, const struct trace_value *a,
		    const struct trace_value *b, struct trace_value *out)
{
	switch (node->operation) {
	case TRACE_TRUTH:
		out->integer = node->operator == OPERATOR_OR_ELSE ?
			is_true(node->left, a) || is_true(node->right, b) :
			is_true(node->left, a) && is_true(node->right, b);
		return true;
	case TRACE_INTEGERS:
		return arithmetic_integers((enum operator)node->operator, node->type,
					   a->integer, b->integer,
					   &out->integer);
	case TRACE_POINTERS:
		return of_pointers(node, a->integer, b->integer,
				   &out->integer);
	default:
		return arithmetic_doubles((enum operator)node->operator,
					  real_of(node->left, a),
					  real_of(node->right, b),
					  &out->real, &out->integer);
	}
}

static enum trace_answer of_two(const struct trace_node *node,
				const struct trace_source *source,
				struct trace_value *out)
{
	struct trace_value a = { 0 }, b = { 0 };
	enum trace_answer answer = compute(node->left, source, &a);

	if (answer == TRACE_TRUE)
		answer = compute(node->right, source, &b);
	if (answer != TRACE_TRUE)
		return answer;
	/* As a division by zero, which the text explains. */
	return operate(node, &a, &b, out) ? TRACE_TRUE : TRACE_ANEW;
}

/* TRACE_TRUE: there is a number. */
static enum trace_answer compute(const struct trace_node *node,
				 const struct trace_source *source,
				 struct trace_value *out)
{
	struct trace_value of = { 0 };
	enum trace_answer answer = TRACE_TRUE;

	switch (node->operation) {
	case TRACE_CONSTANT:
		*out = node->constant;
		return TRACE_TRUE;
	case TRACE_REGISTER:
		out->integer = cut(node->type, (int64_t)source->reg(
			source->context, (unsigned)node->number));
		return TRACE_TRUE;
	case TRACE_SUM:
		if (node->left)
			answer = compute(node->left, source, &of);
		out->integer = (int64_t)((uint64_t)of.integer + node->number);
		return answer;
	case TRACE_MEMORY:
		answer = compute(node->left, source, &of);
		return answer == TRACE_TRUE ?
			read_memory(node, source, (uint64_t)of.integer, out) :
			answer;
	case TRACE_CAST:
		answer = compute(node->left, source, &of);
		if (answer == TRACE_TRUE)
			cast(node, &of, out);
		return answer;
	case TRACE_NOT:
		answer = compute(node->left, source, &of);
		out->integer = !is_true(node->left, &of);
		return answer;
	default:
		return of_two(node, source, out);
	}
}

enum trace_answer trace_answer(const struct trace *trace,
			       const struct trace_source *source)
{
	struct trace_value number = { 0 };
	enum trace_answer answer;

	if (!trace->result)
		return TRACE_ANEW;
	for (const struct trace_guard *guard = trace->guards; guard;
	     guard = guard->next) {
		answer = compute(guard->node, source, &number);
		if (answer == TRACE_TRUE &&
		    is_true(guard->node, &number) != guard->is_true)
			answer = TRACE_ANEW;
		if (answer != TRACE_TRUE)
			return answer;
		number = (struct trace_value) { 0 };
	}
	answer = compute(trace->result, source, &number);
	return answer != TRACE_TRUE ? answer :
	       is_true(trace->result, &number) ? TRACE_TRUE : TRACE_FALSE;
}
