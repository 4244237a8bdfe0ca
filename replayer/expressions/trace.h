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
struct value;

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

struct trace_guard;

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

/* ------- for those who evaluate: `trace` may be NULL ------- */

/* A value that is the same whenever it is asked for. */
void trace_constant(struct trace *trace, struct value *value);
void trace_register(struct trace *trace, struct value *value, unsigned reg);

/* A number, of which the value says where it was found. */
void trace_number(struct trace *trace, struct value *value);

/* The place of `value` is the number `pointer`, or that of `other`. */
void trace_place(struct value *value, const struct value *pointer);
void trace_address(struct trace *trace, struct value *out,
		   const struct value *of);

/*
 * `out` is computed from others; NULL: there is no right one.  `type` is that in
 * which it is done; of pointers, `scale` is the size of what they point to.
 */
struct trace_step {
	enum trace_operation operation;
	unsigned operator;	/* enum operator */
	const struct type *type;
	uint64_t scale;
	const struct value *left, *right;
};

void trace_compute(struct trace *trace, struct value *out,
		   const struct trace_step *step);

/* What follows was computed because this is true, or not. */
void trace_expect(struct trace *trace, const struct value *value,
		  bool is_true);

/* ------- computing again ------- */

enum trace_answer {
	TRACE_FALSE,
	TRACE_TRUE,
	TRACE_UNKNOWN,		/* some memory is not known */
	TRACE_ANEW,		/* the tree does not say it */
};

struct trace_source {
	/* `bytes` has room for 16.  TRACE_TRUE if it is known; else the
	 * answer. */
	enum trace_answer (*memory)(void *context, uint64_t addr, size_t size,
				    uint8_t *bytes);
	uint64_t (*reg)(void *context, unsigned reg);
	void *context;
};

enum trace_answer trace_answer(const struct trace *trace,
			       const struct trace_source *source);

#endif
