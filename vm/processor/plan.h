/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - where blocks end, and what is to happen inside
 *
 * plan.c settles it before a block is translated; float.c and align.c
 * tell what instructions want, and see to it when they run.
 */
#ifndef CPREC_VM_PROCESSOR_PLAN_H
#define CPREC_VM_PROCESSOR_PLAN_H

#include "vm/vm_internal.h"

/* ------- plan.c ------- */

/* Says whose blocks are translated from now on; nobody's if it is NULL. */
void plan_run(struct vm *vm);

/* Blocks that the engine has translated. */
uint64_t plan_translated(const struct vm *vm);

/* ------- float.c ------- */

/* Whether the instruction, whose prefixes end at `opcode`, wants the hook. */
bool float_wants_hook(const struct vm *vm, const uint8_t *opcode,
		      const uint8_t *end);

uc_err float_add_hook(struct vm *vm);

/*
 * The instructions between these addresses get the hook where they are
 * translated from now on; none if `last` is 0.  With a trace, all get it: the
 * engine then asks when they run, not when they are translated.
 */
void float_hook(struct vm *vm, guest_addr first, guest_addr last);

/* From now on, instructions that may raise an exception are hooked, too. */
void float_watch_math(struct vm *vm);

/* ------- align.c ------- */

/* Whether the instruction has an operand in memory that must be aligned. */
bool align_wants(const uint8_t *code, const uint8_t *opcode,
		 const uint8_t *end);

/* ... and whether it is, at this moment. */
bool align_is_met(struct vm *vm, guest_addr pc, const uint8_t *code,
		  const uint8_t *opcode, const uint8_t *end);

/* Finds the demands of a block. */
void align_find_demands(struct vm *vm, struct block *block);

/* Instructions of a block with an operand that no demand is found for. */
struct loose {
	bool is_first;		/* the block's first instruction is one */
	uint16_t next, last;	/* others, by their index; 0: none */
};
struct loose align_find_loose(struct vm *vm, const struct block *block);

/*
 * The guest stands before the block: the index of the first instruction whose
 * operand will not be aligned; NO_SPECIAL if all will.
 */
unsigned align_violation(struct vm *vm, const struct block *block);

#endif
