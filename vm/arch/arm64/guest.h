/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - what a guest's kernel knows of this processor
 *
 * Details of faults that only a kernel of its own architecture tells apart.
 */
#ifndef CPREC_VM_ARCH_ARM64_GUEST_H
#define CPREC_VM_ARCH_ARM64_GUEST_H

#include <stdint.h>

/* What MIDR_EL1 says: Cortex-A72, r0p3. */
#define ARM64_MIDR 0x410fd083u

/* What the register of the exclusive monitor has while nothing is marked. */
#define ARM64_MONITOR_CLEAR UINT64_MAX

/* stop->detail of a fault; 0: none of these. */
enum {
	ARM64_FAULT_ALIGN = 1,	/* FAULT_PRIVILEGE: an operand that must be
				   aligned is not: stop->addr */
};

#endif
