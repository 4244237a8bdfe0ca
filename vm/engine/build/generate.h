/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate.h - functions by which the engine generates its intermediate code
 *
 * Their first argument is the engine's own context for it.
 */
#ifndef CPREC_VM_ENGINE_BUILD_GENERATE_H
#define CPREC_VM_ENGINE_BUILD_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the engine calls a value by. */
typedef uintptr_t name;

/* A load into a value, or a store of one; `access` has its size. */
typedef void load_fn(void *context, name value, name addr, uintptr_t index,
		     unsigned access);
typedef load_fn store_fn;

typedef void op1_fn(void *context, int op, uintptr_t a);
typedef void op2_fn(void *context, int op, uintptr_t a, uintptr_t b);
typedef void op3_fn(void *context, int op, uintptr_t a, uintptr_t b,
		    uintptr_t c);
typedef void op4_fn(void *context, int op, uintptr_t a, uintptr_t b,
		    uintptr_t c, uintptr_t d);
typedef void op6_fn(void *context, int op, uintptr_t a, uintptr_t b,
		    uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f);
/* Operations on vectors, on 2 to 4 values. */
typedef void op2_vector_fn(void *context, int op, int type, unsigned lane,
			    uintptr_t a, uintptr_t b);
typedef void op3_vector_fn(void *context, int op, int type, unsigned lane,
			    uintptr_t a, uintptr_t b, uintptr_t c);
typedef void op4_vector_fn(void *context, int op, int type, unsigned lane,
			    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
typedef void *new_fn(void *context, int type, bool local);
typedef void free_fn(void *context, void *temporary);

/* An operation that was made, as the engine has it (QEMU: TCGOp). */
struct made_op {
	uint32_t head;		/* its number is the lowest byte; of a call, how
				   many inputs and outputs are the next ones */
	struct made_op *next;
	void *before;
	uintptr_t operands[];
};

/* The one that is made in front of it. */
static inline const struct made_op *made_op_in_front(const struct made_op *op)
{
	return (const void *)((const uint8_t *)op->before -
			      offsetof(struct made_op, next));
}

/* What the engine knows of all with one number (TCGOpDef). */
struct op_kind {
	const char *name;
	uint8_t outputs, inputs, constants, all, flags;
	void *places;
	int *order;
};

/* Each operation is made by this. */
typedef void *emit_fn(void *context, int op);

/* The question whether the engine was told to stop, behind an access. */
typedef void ask_fn(void *context);

/* A call of a function. */
typedef void call_fn(void *context, void *function, void *result, int count,
		     void **arguments);

/* The translation that an instruction of the host is in; NULL: in none. */
typedef void *find_block_fn(void *context, uintptr_t host_pc);

/* Brings the state to what it is in front of the guest's instruction that an
 * instruction of the host belongs to. */
typedef bool restore_fn(void *cpu, uintptr_t host_pc, bool leaves);

/* Goes back to where the engine was run from; does not return. */
typedef void leave_fn(void *cpu);

/* Those of one architecture that cprec calls: the engine's own. */
struct generator {
	op1_fn *op1;
	op2_fn *op2;
	op3_fn *op3;
	op6_fn *op6;
	new_fn *new;		/* a value for some operations */
	free_fn *free;
	find_block_fn *find_block;
	restore_fn *restore;
	leave_fn *leave;
};

/* ------- generate.c ------- */

/* That of the engine that was entered. */
const struct generator *generator_now(void);

/* A value of such a type, for some operations, until it is ended. */
uintptr_t generate_value(void *context, int type);
void generate_end(void *context, uintptr_t value);

void generate_op2(void *context, int op, uintptr_t a, uintptr_t b);
void generate_op3(void *context, int op, uintptr_t a, uintptr_t b, uintptr_t c);

/* `to` = what an operation makes of `from` and a constant; 64 bits. */
void generate_with(const struct generator *by, void *context, int op,
		   uintptr_t to, uintptr_t from, uint64_t number);

/* halves.c: a store of x86-64 is generated. */
void halves_note_store(void);

#endif
