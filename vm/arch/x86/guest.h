/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - what a guest's kernel knows of this processor
 *
 * What it says of itself, the selectors that it knows, and the details of
 * faults that only a kernel of its own architecture tells apart.
 */
#ifndef CPREC_VM_ARCH_X86_GUEST_H
#define CPREC_VM_ARCH_X86_GUEST_H

#include <stdbool.h>
#include <stdint.h>

/* What CPUID puts into EAX, EBX, ECX, EDX. */
struct vm_cpuid {
	uint32_t eax, ebx, ecx, edx;
};
struct vm_cpuid vm_cpuid(uint32_t leaf, uint32_t subleaf);

/*
 * Selectors, with the privilege level of programs in their low bits.  Source:
 * Linux, arch/x86/include/asm/segment.h.
 */
enum { X86_USER32_CS = 0x23, X86_USER_DS = 0x2b, X86_USER_CS = 0x33 };

/* Entries of the global descriptor table that a thread of i386 may set. */
enum { X86_TLS_FIRST = 12, X86_TLS_COUNT = 3 };

/* Which of them a selector is of, counted from the first; X86_TLS_COUNT: none. */
static inline unsigned x86_tls_entry(uint16_t selector)
{
	unsigned entry = (selector >> 3) - (unsigned)X86_TLS_FIRST;
	bool is_local = selector & 4;	/* of another table */

	return is_local || entry >= X86_TLS_COUNT ? X86_TLS_COUNT : entry;
}

/* Where the segment of a descriptor begins (Intel 64 SDM volume 3, 3.4.5). */
static inline uint32_t x86_segment_base(uint64_t descriptor)
{
	return (uint32_t)(descriptor >> 16 & 0xffffff) |
	       (uint32_t)(descriptor >> 56) << 24;
}

/* stop->detail of a fault; 0: none of these. */
enum {
	X86_FAULT_SSE = 1,	/* FAULT_FLOAT: of an SSE instruction */
	X86_FAULT_X87,		/* FAULT_FLOAT: of x87, raised before */
	X86_FAULT_STACK,	/* FAULT_PRIVILEGE: by the stack's registers */
	X86_FAULT_STEP,		/* FAULT_DEBUG: by the trap flag */
	X86_FAULT_BOUND,	/* FAULT_PRIVILEGE: by BOUND */
};

#endif
