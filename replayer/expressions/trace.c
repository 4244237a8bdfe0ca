/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - see trace.h */
#include "replayer/expressions/trace.h"

#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/arithmetic.h"
#include "replayer/expressions/values.h"

struct number {
	int64_t integer;
	long double real;	/* of types that are floating-point */
};

struct trace_node {
	struct trace_node *next;	/* of all */
	enum trace_operation operation;
	enum operator operator;
	const struct type *type;	/* of the result; of comparisons and
					   pointers, see trace_step */
	uint64_t number;	/* a register; what is added; a scale */
	unsigned bit_offset, bit_size;	/* TRACE_MEMORY: as in a value */
	bool left_points, right_points;	/* TRACE_POINTERS */
	struct number constant;
	const struct trace_node *left, *right;
};

struct trace_guard {
	struct trace_guard *next;
	const struct trace_node *node;
	bool is_true;
};

void trace_begin(struct trace *trace)
{
	trace->guards_end = &trace->guards;
}

void trace_release(struct trace *trace)
{
	while (trace->nodes) {
		struct trace_node *next = trace->nodes->next;

		free(trace->nodes);
		trace->nodes = next;
	}
	while (trace->guards) {
		struct trace_guard *next = trace->guards->next;

		free(trace->guards);
		trace->guards = next;
	}
	*trace = (struct trace) { 0 };
}

/* ------- making a tree ------- */

static struct trace_node *add(struct trace *trace,
			      enum trace_operation operation,
			      const struct type *type)
{
	struct trace_node *node = calloc(1, sizeof(*node));

	if (!node) {
		trace->opaque++;
		return NULL;
	}
	node->operation = operation;
	node->type = type;
	node->next = trace->nodes;
	trace->nodes = node;
	return node;
}

static const struct trace_node *sum(struct trace *trace,
				    const struct trace_node *of,
				    uint64_t number)
{
	struct trace_node *node;

	if (of && !number)
		return of;
	node = add(trace, TRACE_SUM, NULL);
	if (node) {
		node->left = of;
		node->number = number;
	}
	return node;
}

/* Where it is: at a fixed place, or where a pointer leads. */
static const struct trace_node *place_of(struct trace *trace,
					 const struct value *value)
{
	return value->place ? sum(trace, value->place, value->place_offset) :
			      sum(trace, NULL, value->addr);
}

static bool is_float(const struct type *type)
{
	return type && type->kind == TYPE_FLOAT;
}

void trace_constant(struct trace *trace, struct value *value)
{
	struct trace_node *node;

	if (!trace || !value->bytes)
		return;
	node = add(trace, TRACE_CONSTANT, value->type);
	if (!node)
		return;
	if (is_float(value->type))
		node->constant.real = value_float(value->type, value->bytes);
	else
		node->constant.integer = (int64_t)value_bits(value);
	value->node = node;
}

void trace_register(struct trace *trace, struct value *value, unsigned reg)
{
	struct trace_node *node;

	if (!trace)
		return;
	if (value->type->size > 8 || is_float(value->type)) {
		trace->opaque++;
		return;
	}
	node = add(trace, TRACE_REGISTER, value->type);
	if (node)
		node->number = reg;
	value->node = node;
}

void trace_number(struct trace *trace, struct value *value)
{
	struct trace_node *node;

	if (!trace || value->node)
		return;
	if (value->type->kind == TYPE_ARRAY ||
	    value->type->kind == TYPE_FUNCTION) {
		value->node = place_of(trace, value);
		return;
	}
	if (!value->has_addr || value->type->size > 16) {
		trace->opaque++;
		return;
	}
	node = add(trace, TRACE_MEMORY, value->type);
	if (!node)
		return;
	node->left = place_of(trace, value);
	node->bit_offset = value->bit_offset;
	node->bit_size = value->bit_size;
	value->node = node;
}

void trace_place(struct value *value, const struct value *pointer)
{
	value->place = pointer->node;
	value->place_offset = 0;
}

void trace_address(struct trace *trace, struct value *out,
		   const struct value *of)
{
	if (trace)
		out->node = place_of(trace, of);
}

static bool points(const struct value *value)
{
	return value && (value->type->kind == TYPE_POINTER ||
			 value->type->kind == TYPE_ARRAY);
}

void trace_compute(struct trace *trace, struct value *out,
		   const struct trace_step *step)
{
	const struct value *left = step->left, *right = step->right;
	struct trace_node *node;

	if (!trace)
		return;
	if (!left->node || (right && !right->node)) {
		trace->opaque++;
		return;
	}
	node = add(trace, step->operation, step->type);
	if (!node)
		return;
	node->operator = (enum operator)step->operator;
	node->number = step->scale;
	node->left = left->node;
	node->right = right ? right->node : NULL;
	node->left_points = points(left);
	node->right_points = points(right);
	out->node = node;
}

void trace_expect(struct trace *trace, const struct value *value, bool is_true)
{
	struct trace_guard *guard;

	if (!trace)
		return;
	guard = calloc(1, sizeof(*guard));
	if (!guard || !value->node) {
		free(guard);
		trace->opaque++;
		return;
	}
	guard->node = value->node;
	guard->is_true = is_true;
	*trace->guards_end = guard;
	trace->guards_end = &guard->next;
}

/* ------- computing ------- */

static enum trace_answer compute(const struct trace_node *node,
				 const struct trace_source *source,
				 struct number *out);

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
			   const struct number *number)
{
	if (is_float(node->type))
		return number->real;
	return node->type && node->type->is_signed ?
		       (long double)number->integer :
		       (long double)(uint64_t)number->integer;
}

static bool is_true(const struct trace_node *node, const struct number *number)
{
	return is_float(node->type) ? number->real != 0 : number->integer != 0;
}

static enum trace_answer read_memory(const struct trace_node *node,
				     const struct trace_source *source,
				     uint64_t addr, struct number *out)
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

static void cast(const struct trace_node *node, const struct number *from,
		 struct number *out)
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
	if (!arithmetic_addresses(node->operator, (uint64_t)a, (uint64_t)b,
				  out))
		return false;
	if (node->operator == OPERATOR_MINUS && node->right_points)
		*out /= (int64_t)node->number;
	return true;
}

static bool operate(const struct trace_node *node, const struct number *a,
		    const struct number *b, struct number *out)
{
	switch (node->operation) {
	case TRACE_TRUTH:
		out->integer = node->operator == OPERATOR_OR_ELSE ?
			is_true(node->left, a) || is_true(node->right, b) :
			is_true(node->left, a) && is_true(node->right, b);
		return true;
	case TRACE_INTEGERS:
		return arithmetic_integers(node->operator, node->type,
					   a->integer, b->integer,
					   &out->integer);
	case TRACE_POINTERS:
		return of_pointers(node, a->integer, b->integer,
				   &out->integer);
	default:
		return arithmetic_doubles(node->operator,
					  real_of(node->left, a),
					  real_of(node->right, b),
					  &out->real, &out->integer);
	}
}

static enum trace_answer of_two(const struct trace_node *node,
				const struct trace_source *source,
				struct number *out)
{
	struct number a = { 0 }, b = { 0 };
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
				 struct number *out)
{
	struct number of = { 0 };
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
	struct number number = { 0 };
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
		number = (struct number) { 0 };
	}
	answer = compute(trace->result, source, &number);
	return answer != TRACE_TRUE ? answer :
	       is_true(trace->result, &number) ? TRACE_TRUE : TRACE_FALSE;
}
