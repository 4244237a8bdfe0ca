/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry_values.h - what a register or argument held when a function was entered
 *
 * Code with optimization does not keep what functions were called with.  Their
 * callers say how they have computed that, if it can be computed again.
 *
 * Source: DWARF 5, 2.5.1.7 (DW_OP_entry_value) and 3.4.2; what gdb 13 makes of
 * that.
 *
 * Ownership:  what began is ended, also if nobody needs it.
 * Errors:     ERR_NOT_FOUND: the caller does not say it, or it cannot be told
 *             who that is; those of context.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_ENTRY_VALUES_H
#define CPREC_REPLAYER_EXPRESSIONS_ENTRY_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct context;
struct context_callee;
struct failure;

enum entry_kind {
	ENTRY_REGISTER,		/* its number in debugging information */
	ENTRY_STACK,		/* so many bytes from the stack pointer */
	ENTRY_PARAMETER,	/* an argument that is not passed any more */
};

struct entry_wanted {
	enum entry_kind kind;
	uint64_t number;
	Dwarf_Die parameter;
	bool is_pointed;	/* not the value, but what it points to */
};

/*
 * What an argument was when the context's function was entered: if where that
 * begins it is all of a register, or of a place on the stack.
 */
int entry_wanted_of(struct context *context, Dwarf_Die *variable,
		    struct entry_wanted *out, struct failure *why);

/* The call that led to a function. */
struct entry_call {
	struct context_callee *callee;
	Dwarf_Attribute value;	/* an expression: what is wanted */
	bool is_computed;	/* and another one says where it led to, which
				   must be `function`: */
	Dwarf_Attribute target;
	uint64_t function;
};

/*
 * Looks for the call that the context's frame is of.  From then on, until
 * entry_call_end(), the frame is that of the caller.
 */
int entry_call_begin(struct context *context,
		     const struct entry_wanted *wanted,
		     struct entry_call *out, struct failure *why);
void entry_call_end(struct context *context, struct entry_call *call);

#endif
