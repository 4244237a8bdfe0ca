/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traced_values.c - what a trace tells of values: see values.h */
#include <stdlib.h>

#include "replayer/expressions/values.h"

static const struct trace_node *sum(struct trace *trace,
				    const struct trace_node *of,
				    uint64_t number)
{
	struct trace_node *node;

	if (of && !number)
		return of;
	node = trace_add(trace, TRACE_SUM, NULL);
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
	node = trace_add(trace, TRACE_CONSTANT, value->type);
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
	node = trace_add(trace, TRACE_REGISTER, value->type);
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
	node = trace_add(trace, TRACE_MEMORY, value->type);
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
	node = trace_add(trace, step->operation, step->type);
	if (!node)
		return;
	node->operator = step->operator;
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
