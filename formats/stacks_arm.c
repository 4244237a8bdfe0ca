/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_arm.c - the table of 32-bit ARM; see stacks.h */
#include "formats/registers.h"
#include "formats/stacks.h"
#include "formats/tables_arm.h"

/*
 * rt_sigreturn and sigreturn: the C library's, in Thumb code; the kernel's, in
 * both.
 */
static const uint8_t library_rt[] = { 0x4f, 0xf0, 173, 0x07, 0x00, 0xdf };
static const uint8_t library[] = { 0x4f, 0xf0, 119, 0x07, 0x00, 0xdf };
static const uint8_t arm_rt[] = { 173, 0x70, 0xa0, 0xe3, 173, 0, 0x90, 0xef };
static const uint8_t arm[] = { 119, 0x70, 0xa0, 0xe3, 119, 0, 0x90, 0xef };
static const uint8_t thumb_rt[] = { 173, 0x27, 0x00, 0xdf };
static const uint8_t thumb[] = { 119, 0x27, 0x00, 0xdf };

#define RETURN(code, less, second) \
	{ code, sizeof(code), less, { { 0, 0 }, { second, 0 } } }

/*
 * Behind the signal's information, if it is there: the registers in struct
 * ucontext, behind flags, link, stack, and three words of the context.
 */
#define INFORMATION 128
#define SAVED(n) (INFORMATION + 20 + 12 + 4 * (n))

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

/* bl and blx, of ARM code. */
static uint64_t arm_target(uint32_t word, uint64_t addr)
{
	uint64_t far = (uint64_t)(int64_t)((int32_t)(word << 8) >> 6);

	if (word >> 25 == 0x7d)
		return addr + 4 + far + (word >> 23 & 2);
	return (word & 0x0f000000) == 0x0b000000 ? addr + 4 + far : 0;
}

/* bl and blx, of Thumb code: 24 bits in parts, the highest two by the sign. */
static uint64_t thumb_target(uint32_t first, uint32_t second, uint64_t addr)
{
	uint32_t sign = first >> 10 & 1;
	uint32_t high = !((second >> 13 & 1) ^ sign) << 1 |
			!((second >> 11 & 1) ^ sign);
	uint32_t far = sign << 24 | high << 22 | (first & 0x3ff) << 12 |
		       (second & 0x7ff) << 1;

	if (!(second >> 12 & 1))
		addr &= ~UINT64_C(3);
	return addr + (uint64_t)(int64_t)((int32_t)(far << 7) >> 7);
}

static uint64_t call_target(const uint8_t *before, size_t size, uint64_t addr)
{
	const uint8_t *at = before + size - 4;
	uint32_t first, second;

	if (size < 4)
		return 0;
	first = halfword(at);
	second = halfword(at + 2);
	if ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000)
		return (uint32_t)thumb_target(first, second, addr);
	return (uint32_t)arm_target(first | second << 16, addr);
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
	.returns = {
		RETURN(library_rt, 0, 4), RETURN(library, INFORMATION, 4),
		RETURN(arm_rt, 0, 4), RETURN(arm, INFORMATION, 4),
		RETURN(thumb_rt, 0, 2), RETURN(thumb, INFORMATION, 2),
	},
	.saved = saved,
	.saved_count = sizeof(saved) / sizeof(saved[0]),
	.is_call = is_call,
	.call_target = call_target,
};
