/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - see trace.h */
#include "replayer/expressions/trace.h"

#include <stdlib.h>

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

struct trace_node *trace_add(struct trace *trace,
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
