/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - what calls and signals leave on a stack, by architecture
 *
 * For who finds the callers of a function: one table says where code keeps
 * frames without unwind tables, and what the kernel leaves for a handler.
 *
 * Source: System V ABI, AMD64 supplement, 3.2.2; arch/x86/kernel/signal_64.c
 * and uapi/asm/sigcontext.h of Linux; Intel 64 SDM volume 2, CALL.  Procedure
 * Call Standard for the Arm 64-bit Architecture; arch/arm64/kernel/signal.c.
 * Procedure Call Standard for the Arm Architecture; arch/arm/kernel/signal.c.
 */
#ifndef CPREC_FORMATS_STACKS_H
#define CPREC_FORMATS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_MOST 8u		/* bytes of the longest instruction that calls */
#define SIGRETURN_MOST 16u	/* bytes of code that leaves a handler */

/*
 * Code that a handler returns to, which makes the call that brings registers
 * back.
 */
struct stack_return {
	const uint8_t *code;
	size_t size;		/* at most SIGRETURN_MOST */
	unsigned less;		/* bytes that the registers are nearer */
	struct {
		/* Bytes of the code that are behind it, and that these have
		 * taken off the stack; none of both: it begins. */
		uint8_t passed, popped;
	} places[3];		/* where an instruction begins */
};

#define STACK_RETURNS 6u

struct stack_table {
	/*
	 * A frame that code keeps: the register points to the caller's, and
	 * the return address is `link` bytes behind it.  Registers are numbered
	 * as in registers.h.
	 */
	unsigned fp;
	unsigned link;

	/* The frame ends behind the return address; else more may be there:
	 * what the function keeps, or its arguments. */
	bool ends_frame;

	/* A call that was just made: the return address is at the stack
	 * pointer, or in a register; and so many bytes. */
	unsigned call_size;
	bool has_link_register;
	unsigned link_register;

	/* First byte of a return that also takes arguments off the stack, as
	 * many bytes as the two behind it say; 0: there is none. */
	uint8_t popping_return;

	/* Where handlers return to, and, from the stack pointer there, the
	 * registers that are brought back: `saved[i]` is of register i. */
	struct stack_return returns[STACK_RETURNS];
	const uint16_t *saved;	/* 0: none */
	unsigned saved_count;

	/* Whether the last bytes before a return address are of a call. */
	bool (*is_call)(const uint8_t *before, size_t size);

	/* Where that call leads, which returns to `addr`, if its bytes say so;
	 * else 0.  NULL: not needed. */
	uint64_t (*call_target)(const uint8_t *before, size_t size,
				uint64_t addr);
};

/* NULL if this build does not know the architecture. */
const struct stack_table *stack_table(unsigned arch);

#endif
