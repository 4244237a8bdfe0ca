/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - what a guest's kernel knows of this processor
 *
 * Details of faults that only a kernel of its own architecture tells apart.
 */
#ifndef CPREC_VM_ARCH_ARM_GUEST_H
#define CPREC_VM_ARCH_ARM_GUEST_H

#include <stdint.h>

/* What MIDR says: Cortex-A15, r2p1. */
#define ARM_MIDR 0x412fc0f1u

/* What the register of the exclusive monitor has while nothing is marked. */
#define ARM_MONITOR_CLEAR UINT64_MAX

/* Of CPSR: what says how code goes on, IT's two parts; user mode. */
#define ARM_CPSR_IT 0x0600fc00u
#define ARM_CPSR_BIG 0x200u	/* data with the highest byte first */
#define ARM_CPSR_USER 0x10u

/* stop->detail of a fault; 0: none of these. */
enum {
	ARM_FAULT_ALIGN = 1,	/* FAULT_PRIVILEGE: an operand that must be
				   aligned is not: stop->addr */
};

#endif
