/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm_helpers.c - functions that the kernel has for programs, and what
 * /proc/cpuinfo says
 *
 * The functions are at fixed addresses, at the end of a page.  They do with the
 * processor's exclusive monitor what they must do at once: a switch to another
 * thread clears that.  What else is in the page are undefined instructions: the
 * vectors at its beginning are not for programs.
 *
 * Source: Linux, Documentation/arch/arm/kernel_user_helpers.rst;
 * arch/arm/kernel/setup.c.
 */
#include <string.h>

#include "vm/arch/arm/guest.h"
#include "vm/linux/abi/arm_internal.h"

#define UNDEFINED UINT32_C(0xe7fddef1)

/* Returns 0, and sets C, if the number at r2 was as at r0 and is as at r1. */
static const uint32_t exchange_64[] = {
	0xe92d00f0,	/* push	{r4, r5, r6, r7} */
	0xe1c040d0,	/* ldrd	r4, r5, [r0] */
	0xe1c160d0,	/* ldrd	r6, r7, [r1] */
	0xf57ff05b,	/* dmb	ish */
	0xe1b20f9f,	/* ldrexd	r0, r1, [r2] */
	0xe0303004,	/* eors	r3, r0, r4 */
	0x00313005,	/* eorseq	r3, r1, r5 */
	0x01a23f96,	/* strexdeq	r3, r6, r7, [r2] */
	0x03330001,	/* teqeq	r3, #1 */
	0x0afffff9,	/* beq	to ldrexd */
	0xf57ff05b,	/* dmb	ish */
	0xe2730000,	/* rsbs	r0, r3, #0 */
	0xe8bd00f0,	/* pop	{r4, r5, r6, r7} */
	0xe12fff1e,	/* bx	lr */
};

static const uint32_t barrier[] = {
	0xf57ff05b,	/* dmb	ish */
	0xe12fff1e,	/* bx	lr */
};

/* The same as the first one, for the numbers r0, r1, and at r2. */
static const uint32_t exchange[] = {
	0xf57ff05b,	/* dmb	ish */
	0xe1923f9f,	/* ldrex	r3, [r2] */
	0xe0533000,	/* subs	r3, r3, r0 */
	0x01823f91,	/* strexeq	r3, r1, [r2] */
	0x03330001,	/* teqeq	r3, #1 */
	0x0afffffa,	/* beq	to ldrex */
	0xe2730000,	/* rsbs	r0, r3, #0 */
	0xeaffffef,	/* b	to the barrier */
};

static const uint32_t get_tls[] = {
	0xee1d0f70,	/* mrc	p15, 0, r0, c13, c0, 3 */
	0xe12fff1e,	/* bx	lr */
	0xee1d0f70, UNDEFINED, 0, 0, 0,
	5,		/* how many there are, in units of 32 bytes */
};

static const struct {
	unsigned at;
	const uint32_t *code;
	size_t size;
} helpers[] = {
	{ 0xf60, exchange_64, sizeof(exchange_64) },
	{ 0xfa0, barrier, sizeof(barrier) },
	{ 0xfc0, exchange, sizeof(exchange) },
	{ 0xfe0, get_tls, sizeof(get_tls) },
};

void arm_fill_helpers(uint8_t page[GUEST_PAGE])
{
	const uint32_t undefined = UNDEFINED;

	for (unsigned at = 0; at < GUEST_PAGE; at += sizeof(undefined))
		memcpy(page + at, &undefined, sizeof(undefined));
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		memcpy(page + helpers[i].at, helpers[i].code, helpers[i].size);
}

/* Of a machine that says nothing of itself. */
void arm_print_cpuinfo(FILE *out, unsigned processor)
{
	fprintf(out,
		"processor\t: %u\n"
		"model name\t: ARMv7 Processor rev %u (v7l)\n"
		"BogoMIPS\t: 125.00\n"
		"Features\t: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 "
		"idiva idivt vfpd32 lpae \n"
		"CPU implementer\t: 0x%02x\n"
		"CPU architecture: 7\n"
		"CPU variant\t: 0x%x\n"
		"CPU part\t: 0x%03x\n"
		"CPU revision\t: %u\n"
		"\n"
		"Hardware\t: Generic DT based system\n"
		"Revision\t: 0000\n"
		"Serial\t\t: 0000000000000000\n",
		processor, ARM_MIDR & 15, ARM_MIDR >> 24, ARM_MIDR >> 20 & 15,
		ARM_MIDR >> 4 & 0xfff, ARM_MIDR & 15);
}
