/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefixes.h - what stands before the opcode of an instruction */
#ifndef CPREC_VM_ARCH_X86_PREFIXES_H
#define CPREC_VM_ARCH_X86_PREFIXES_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_legacy_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return false;
}

/* The opcode's first byte, behind prefixes; `*rep`: whether F2 or F3 is one. */
static inline const uint8_t *skip_prefixes(const uint8_t *at,
					   const uint8_t *end, bool *rep)
{
	*rep = false;
	while (at < end && is_legacy_prefix(*at)) {
		*rep |= *at == 0xf2 || *at == 0xf3;
		at++;
	}
	if (at < end && (*at & 0xf0) == 0x40)	/* REX */
		at++;
	return at;
}

#endif
