/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.c - selectors of programs of 32 bits
 *
 * Code, stack and data are in segments that have all addresses.  FS and GS may
 * be loaded with one of three segments that the kernel has for each thread
 * (set_thread_area(2)): only where it begins is heeded, not where it ends.  The
 * engine has no descriptor tables: it is told where FS and GS begin.
 *
 * Source: Intel 64 SDM volume 3, 3.4.2 (selectors), 3.4.5 (descriptors); Linux,
 * arch/x86/kernel/tls.c.
 */
#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/x86.h"

/* The first word has four selectors, from here on; the others, descriptors. */
#define FIRST_OWN X86_DS
#define OWN_SELECTORS 4u
#define WORD_DESCRIPTORS 1u

_Static_assert(X86_GS - FIRST_OWN + 1 == OWN_SELECTORS &&
	       X86_TLS_COUNT + WORD_DESCRIPTORS == 4, "struct cpu_own");

#define PRESENT (UINT64_C(1) << 47)
#define LEVEL 3u		/* the privilege level that is asked for */

static unsigned shift_of(unsigned reg)
{
	return 16 * (reg - FIRST_OWN);
}

uint16_t segments_selector(const struct cpu *cpu, unsigned reg)
{
	if (reg == X86_CS)
		return X86_USER32_CS;
	if (reg == X86_SS)
		return X86_USER_DS;
	return (uint16_t)(cpu->own.words[0] >> shift_of(reg));
}

void segments_set_selector(struct cpu *cpu, unsigned reg, uint16_t selector)
{
	uint64_t *word = &cpu->own.words[0];

	if (reg < FIRST_OWN)
		return;
	*word &= ~(UINT64_C(0xffff) << shift_of(reg));
	*word |= (uint64_t)selector << shift_of(reg);
}

uint64_t segments_descriptor(const struct cpu *cpu, unsigned number)
{
	return cpu->own.words[WORD_DESCRIPTORS + number];
}

static void set_base(struct cpu *cpu, unsigned reg, uint32_t base)
{
	if (reg == X86_FS)
		x86_write_reg(cpu, X86_FS_BASE, base);
	if (reg == X86_GS)
		x86_write_reg(cpu, X86_GS_BASE, base);
}

/* The kernel loads the selectors again that select it. */
void segments_set_descriptor(struct cpu *cpu, unsigned number,
			     uint64_t descriptor)
{
	cpu->own.words[WORD_DESCRIPTORS + number] = descriptor;
	for (unsigned reg = X86_FS; reg <= X86_GS; reg++) {
		uint16_t selector = segments_selector(cpu, reg);

		if (x86_tls_entry(selector) == number)
			set_base(cpu, reg, x86_segment_base(descriptor));
	}
}

bool segments_is_flat(uint16_t selector)
{
	uint16_t any = selector | LEVEL;

	return any == X86_USER_DS || any == X86_USER32_CS ||
	       any == X86_USER_CS;
}

bool segments_load(struct cpu *cpu, unsigned reg, uint16_t selector)
{
	bool has_base = reg == X86_FS || reg == X86_GS;
	unsigned number = x86_tls_entry(selector);
	uint64_t descriptor = 0;

	if (reg == X86_SS)
		return selector == X86_USER_DS;
	if (number < X86_TLS_COUNT && has_base) {
		descriptor = segments_descriptor(cpu, number);
		if (!(descriptor & PRESENT))
			return false;
	} else if (selector > LEVEL && !segments_is_flat(selector)) {
		return false;
	}
	segments_set_selector(cpu, reg, selector);
	set_base(cpu, reg, x86_segment_base(descriptor));
	return true;
}
