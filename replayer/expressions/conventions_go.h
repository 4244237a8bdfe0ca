/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conventions_go.h - where functions of Go find arguments, and leave results
 *
 * Results are passed as arguments are, and there may be several.  What does not fit
 * into the registers that are left, as a whole, is on the stack; so is all of
 * units whose compiler did not use registers yet, and of architectures for which
 * none does.
 *
 * Source: cmd/compile/abi-internal.md of Go 1.19.
 *
 * Ownership:  bytes are of the context (context_take()).
 * Errors:     those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_GO_H
#define CPREC_REPLAYER_EXPRESSIONS_CONVENTIONS_GO_H

#include <stdbool.h>

#include "replayer/expressions/arguments.h"
#include "replayer/expressions/values.h"

struct go_passing {
	bool by_registers;
	struct arguments taken;
};

/* A place of an argument or result. */
struct go_place {
	bool is_on_stack;
	bool is_said;		/* by debugging information */
	uint64_t offset;	/* there, from the canonical frame address on */
	struct go_part {
		bool is_vector;
		uint8_t index;	/* of the registers for it */
		uint8_t size;	/* in the value, at `offset` */
		uint16_t offset;
	} parts[32];
	unsigned count;
};

/* How functions of an entry's unit are called; false: it is none of Go. */
bool go_passing_of(Dwarf_Die *function, struct go_passing *out);

/* Where the next argument is, or behind go_begin_results(), the next result. */
int go_place_next(struct context *context, struct go_passing *passing,
		  struct type *type, struct go_place *out, struct failure *why);
void go_begin_results(struct context *context, struct go_passing *passing);

/*
 * Whether debugging information says the same of an argument, as far as it does:
 * it leaves out arguments without a name, which have places, too.
 */
bool go_place_fits(const struct context *context,
		   const struct code_frame *frame, Dwarf_Die *parameter,
		   const struct go_place *place);

/* The place of a result above the function's frame, if it says one. */
void go_result_place_said(const struct code_frame *frame, Dwarf_Die *result,
			  struct go_place *place);

/* The register that a part is in. */
bool go_register(const struct context *context, const struct go_part *part,
		 unsigned *out);

/* What is there, where the context's stack pointer is `above` bytes below. */
int go_value(struct context *context, const struct go_place *place,
	     struct type *type, uint64_t above, struct value *out,
	     struct failure *why);

#endif
