/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_arm.c - the table of 32-bit ARM; see stacks.h */
#include "formats/registers.h"
#include "formats/stacks.h"
#include "formats/tables_arm.h"

/* mov r7, #173; svc #0: rt_sigreturn, in ARM code. */
static const uint8_t sigreturn[] = {
	0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef,
};

/*
 * Behind the signal's information: the registers in struct ucontext, behind
 * flags, link, stack, and three words of the context.
 */
#define SAVED(n) (128 + 20 + 12 + 4 * (n))

static const uint16_t saved[] = {
	[ARM_R0] = SAVED(0), SAVED(1), SAVED(2), SAVED(3), SAVED(4), SAVED(5),
	SAVED(6), SAVED(7), SAVED(8), SAVED(9), SAVED(10),
	[ARM_R11] = SAVED(11), [ARM_R12] = SAVED(12), [ARM_SP] = SAVED(13),
	[ARM_LR] = SAVED(14), [ARM_PC] = SAVED(15), [ARM_CPSR] = SAVED(16),
};

static uint32_t halfword(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

/* bl, blx of an address; blx of a register. */
static bool is_arm_call(const uint8_t *at)
{
	uint32_t word = halfword(at) | halfword(at + 2) << 16;

	return (word & 0x0f000000) == 0x0b000000 || word >> 25 == 0x7d ||
	       (word & 0x0ffffff0) == 0x012fff30;
}

static bool is_thumb_call(const uint8_t *before, size_t size)
{
	uint32_t last = halfword(before + size - 2);

	if ((last & 0xff87) == 0x4780)
		return true;
	return size >= 4 && (last & 0xc000) == 0xc000 &&
	       (halfword(before + size - 4) & 0xf800) == 0xf000;
}

static bool is_call(const uint8_t *before, size_t size)
{
	if (size >= 2 && is_thumb_call(before, size))
		return true;
	return size >= 4 && is_arm_call(before + size - 4);
}

const struct stack_table stack_table_arm = {
	.fp = ARM_R11,
	.link = 4,
	.call_size = 4,
	.has_link_register = true,
	.link_register = ARM_LR,
	.sigreturn = sigreturn,
	.sigreturn_size = sizeof(sigreturn),
	.saved = saved,
	.saved_count = sizeof(saved) / sizeof(saved[0]),
	.is_call = is_call,
};
