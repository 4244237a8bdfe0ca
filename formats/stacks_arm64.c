/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_arm64.c - the table of AArch64; see stacks.h */
#include "formats/registers.h"
#include "formats/stacks.h"
#include "formats/tables_arm64.h"

/* mov x8, #139; svc #0: rt_sigreturn. */
static const uint8_t sigreturn[] = {
	0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
};

/* Behind the signal's information: the registers in struct ucontext. */
#define SAVED(n) (312 + 8 * (n))
#define EIGHT(n) SAVED(n), SAVED((n) + 1), SAVED((n) + 2), SAVED((n) + 3), \
	SAVED((n) + 4), SAVED((n) + 5), SAVED((n) + 6), SAVED((n) + 7)

static const uint16_t saved[] = {
	[ARM64_X0] = EIGHT(0), [ARM64_X8] = EIGHT(8), [ARM64_X16] = EIGHT(16),
	[ARM64_X16 + 8] = SAVED(24), SAVED(25), SAVED(26), SAVED(27), SAVED(28),
	[ARM64_X29] = SAVED(29), [ARM64_X30] = SAVED(30),
	[ARM64_SP] = SAVED(31), [ARM64_PC] = SAVED(32),
};

/* bl; blr */
static bool is_call(const uint8_t *before, size_t size)
{
	const uint8_t *at = before + size - 4;
	uint32_t word;

	if (size < 4)
		return false;
	word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
	return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000;
}

const struct stack_table stack_table_arm64 = {
	.fp = ARM64_X29,
	.link = 8,
	.call_size = 8,
	.has_link_register = true,
	.link_register = ARM64_X30,
	.returns = { { sigreturn, sizeof(sigreturn), 0,
		       { { 0, 0 }, { 4, 0 } } } },
	.saved = saved,
	.saved_count = sizeof(saved) / sizeof(saved[0]),
	.is_call = is_call,
};
