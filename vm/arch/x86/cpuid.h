/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuid.h - what the virtual processor says of itself */
#ifndef CPREC_VM_ARCH_X86_CPUID_H
#define CPREC_VM_ARCH_X86_CPUID_H

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

#endif
