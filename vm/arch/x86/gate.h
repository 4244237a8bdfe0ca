/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.h - which instructions must not run in the engine
 *
 * The gate finds what the engine would execute wrongly in silence (VEX forms,
 * privileged instructions, which it allows) and what depends on the machine.
 *
 * Source: Intel 64 SDM volume 2, chapters 2 (prefixes) and 3 to 5.
 */
#ifndef CPREC_VM_ARCH_X86_GATE_H
#define CPREC_VM_ARCH_X86_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum gate {
	GATE_OPEN,
	GATE_VALUE,
	GATE_EMULATE,		/* x86_emulate() */
	GATE_PRIVILEGE,
	GATE_INVALID,
	GATE_INT,
};

/* What must become of the first instruction at `code`. */
enum gate x86_gate(const uint8_t *code, const uint8_t *end);

#endif
