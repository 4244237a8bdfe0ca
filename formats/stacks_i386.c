/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_i386.c - the table of i386; see stacks.h */
#include "formats/registers.h"
#include "formats/stacks.h"
#include "formats/tables_i386.h"

/* mov $173, %eax; int $0x80: rt_sigreturn. */
static const uint8_t rt_sigreturn[] = {
	0xb8, 173, 0, 0, 0, 0xcd, 0x80,
};

/* pop %eax; mov $119, %eax; int $0x80: sigreturn. */
static const uint8_t sigreturn[] = {
	0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80,
};

/*
 * A handler with three arguments, which are on the stack, followed by struct
 * siginfo and struct ucontext: the registers begin behind flags, link and
 * stack.  With one argument, they are behind that.
 */
#define ARGUMENT 4
#define REGISTERS 160
#define SAVED(n) (REGISTERS + 4 * (n))

static const uint16_t saved[] = {
	[I386_EDI] = SAVED(4), [I386_ESI] = SAVED(5), [I386_EBP] = SAVED(6),
	[I386_ESP] = SAVED(7), [I386_EBX] = SAVED(8), [I386_EDX] = SAVED(9),
	[I386_ECX] = SAVED(10), [I386_EAX] = SAVED(11), [I386_EIP] = SAVED(14),
};

const struct stack_table stack_table_i386 = {
	.fp = I386_EBP,
	.ends_frame = true,
	.link = 4,
	.call_size = 4,
	.popping_return = 0xc2,
	.returns = {
		{ rt_sigreturn, sizeof(rt_sigreturn), 0,
		  { { 0, 0 }, { 5, 0 } } },
		{ sigreturn, sizeof(sigreturn), REGISTERS - ARGUMENT,
		  { { 0, 0 }, { 1, 4 }, { 6, 4 } } },
	},
	.saved = saved,
	.saved_count = sizeof(saved) / sizeof(saved[0]),
	.is_call = stack_x86_is_call,
};
