/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - how an expression was computed, to compute it again
 *
 * While somebody traces, evaluations leave a tree behind: constants, registers,
 * what was read from memory, operators.  The tree computes the same from other
 * contents of memory and registers, some hundred times as fast as the text
 * does.  What no tree tells of, as the place of a variable that debugging
 * information computes, makes the trace opaque: only the text says what it is.
 *
 * An operator that left out its right side ("p && p->next") is in the tree with
 * a guard: the tree is good as long as it would leave it out again.
 *
 * Ownership:  trace_release() frees.  Types of a tree are those of the context.
 * Errors:     none: without memory, a trace is opaque.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_TRACE_H
#define CPREC_REPLAYER_EXPRESSIONS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_node;
struct type;

enum trace_operation {
	TRACE_CONSTANT,
	TRACE_REGISTER,
	TRACE_MEMORY,		/* what is at an address */
	TRACE_SUM,		/* of an address and `number` */
	TRACE_CAST,
	TRACE_NOT,
	TRACE_TRUTH,		/* && and || */
	TRACE_INTEGERS, TRACE_DOUBLES, TRACE_POINTERS,
};

struct trace_value {
	int64_t integer;
	long double real;	/* of types that are floating-point */
};

struct trace_node {
	struct trace_node *next;	/* of all */
	enum trace_operation operation;
	unsigned operator;	/* enum operator */
	const struct type *type;	/* of the result; of comparisons and
					   pointers, see trace_step */
	uint64_t number;	/* a register; what is added; a scale */
	unsigned bit_offset, bit_size;	/* TRACE_MEMORY: as in a value */
	bool left_points, right_points;	/* TRACE_POINTERS */
	struct trace_value constant;
	const struct trace_node *left, *right;
};

struct trace_guard {
	struct trace_guard *next;
	const struct trace_node *node;
	bool is_true;
};

struct trace {
	struct trace_node *nodes;	/* all of them */
	struct trace_guard *guards, **guards_end;
	const struct trace_node *result;	/* NULL: there is no tree */
	unsigned opaque;	/* what no tree tells of */
	bool asks_registers;	/* somebody did */
	bool is_unknown;	/* some memory was not known */

	/* Told of all memory that is looked at, known or not. */
	void (*read)(void *context, uint64_t addr, uint64_t size);
	void *context;
};

void trace_begin(struct trace *trace);
void trace_release(struct trace *trace);

/* A new part; NULL without memory: then the trace is opaque. */
struct trace_node *trace_add(struct trace *trace,
			     enum trace_operation operation,
			     const struct type *type);

#endif
