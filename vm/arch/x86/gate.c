/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate.c - see gate.h */
#include "vm/arch/x86/gate.h"

#include <string.h>

#include "vm/arch/x86/prefixes.h"

/*
 * VEX, EVEX and XOP: in 64-bit mode the first bytes are nothing else, but
 * for 8f /0 (pop).
 */
static bool is_vector_extension(const uint8_t *at, const uint8_t *end)
{
	if (at >= end)
		return false;
	if (*at == 0xc4 || *at == 0xc5 || *at == 0x62)
		return true;
	return *at == 0x8f && at + 1 < end && (at[1] & 0x38);
}

/*
 * PCMPESTRM, PCMPESTRI, PCMPISTRM and PCMPISTRI in the mode "equal ordered":
 * the mode is in the last byte of the instruction, which the length of its
 * operand tells.
 */
static bool is_ordered_compare(const uint8_t *at, const uint8_t *end)
{
	unsigned mod, skip = 3;

	if (end - at < 4 || at[1] < 0x60 || at[1] > 0x63)
		return false;
	mod = at[2] >> 6;
	if (mod != 3 && (at[2] & 7) == 4) {	/* SIB */
		if (mod == 0 && (at[3] & 7) == 5)
			skip += 4;
		skip++;
	} else if (mod == 0 && (at[2] & 7) == 5) {
		skip += 4;
	}
	skip += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return at + skip < end && (at[skip] >> 2 & 3) == 3;
}

/*
 * PHADDW, PHADDD, PHADDSW, PHSUBW, PHSUBD, PHSUBSW of a register and itself:
 * the engine overwrites what it has not read yet.  Registers that differ by 8
 * are taken for the same one, which does no harm.
 */
static bool is_horizontal_of_one(const uint8_t *at, const uint8_t *end)
{
	return end - at >= 3 && at[1] >= 0x01 && at[1] <= 0x07 &&
	       at[1] != 0x04 && at[2] >= 0xc0 &&
	       (at[2] >> 3 & 7) == (at[2] & 7);
}

/*
 * F2XM1, FYL2X, FPTAN, FPATAN, FXTRACT, FPREM1, FPREM, FYL2XP1, FSINCOS,
 * FSCALE, FSIN, FCOS: the second byte behind D9.
 */
static bool is_inexact_x87(uint8_t byte)
{
	return (byte >= 0xf0 && byte <= 0xf5) || byte == 0xf8 || byte == 0xf9 ||
	       byte == 0xfb || byte == 0xfd || byte == 0xfe || byte == 0xff;
}

static enum gate gate_two_byte(const uint8_t *at, const uint8_t *end)
{
	uint8_t modrm = at + 1 < end ? at[1] : 0;
	unsigned reg = modrm >> 3 & 7;
	bool is_memory = modrm < 0xc0;

	switch (*at) {
	case 0x31: case 0xa2:			/* RDTSC, CPUID */
		return GATE_VALUE;
	case 0x38:
		return is_horizontal_of_one(at, end) ? GATE_VALUE : GATE_OPEN;
	case 0x3a:
		return is_ordered_compare(at, end) ? GATE_VALUE : GATE_OPEN;
	case 0x06: case 0x08: case 0x09:	/* CLTS, INVD, WBINVD */
	case 0x07: case 0x35:			/* SYSRET, SYSEXIT */
	case 0x20: case 0x21: case 0x22: case 0x23:	/* MOV CR, DR */
	case 0x30: case 0x32: case 0x33:	/* WRMSR, RDMSR, RDPMC */
		return GATE_PRIVILEGE;
	case 0x02: case 0x03:			/* LAR, LSL */
	case 0x78: case 0x79:	/* VMREAD, VMWRITE; EXTRQ, INSERTQ */
	case 0x0b: case 0x34: case 0xb9: case 0xff: case 0x37: case 0xaa:
		return GATE_INVALID;	/* UD2, SYSENTER, UD1, UD0, GETSEC, RSM */
	case 0x00:			/* SLDT, STR; LLDT, LTR; VERR, VERW */
		return reg < 2 ? GATE_OPEN :
		       reg < 4 ? GATE_PRIVILEGE : GATE_INVALID;
	case 0x01:
		if (is_memory)		/* LGDT, LIDT, LMSW, INVLPG */
			return reg == 2 || reg == 3 || reg == 6 || reg == 7 ?
				       GATE_PRIVILEGE : GATE_OPEN;
		if (modrm == 0xf8)	/* SWAPGS */
			return GATE_PRIVILEGE;
		return reg == 4 ? GATE_OPEN : GATE_INVALID;	/* SMSW */
	case 0xae:	/* XSAVE, XRSTOR, XSAVEOPT; RDFSBASE and its kin */
		if (is_memory)
			return reg == 4 || reg == 6 ? GATE_INVALID : GATE_OPEN;
		return reg < 4 ? GATE_INVALID : GATE_OPEN;
	case 0xc7:	/* CMPXCHG8B/16B; RDRAND, RDSEED, VMPTRLD, XSAVES */
		return is_memory && reg == 1 ? GATE_EMULATE : GATE_INVALID;
	}
	return GATE_OPEN;
}

/* The middle field of ModR/M, behind an opcode of one byte. */
static unsigned reg_of(const uint8_t *at, const uint8_t *end)
{
	return at + 1 < end ? at[1] >> 3 & 7 : 0;
}

/* MOV to a selector, by its number: ES, CS, SS, DS, FS, GS. */
static enum gate gate_load_selector(unsigned number)
{
	switch (number) {
	case 0: case 2: case 3:
		return GATE_EMULATE;
	case 4: case 5:		/* null ones, which the engine knows */
		return GATE_OPEN;
	default:
		return GATE_INVALID;
	}
}

enum gate x86_gate(const uint8_t *code, const uint8_t *end)
{
	bool rep;
	const uint8_t *at = skip_prefixes(code, end, &rep);

	if (at >= end)
		return GATE_OPEN;
	if (is_vector_extension(at, end))
		return GATE_INVALID;
	switch (*at) {
	case 0xf6: case 0xf7:				/* LOCK NEG */
		if (memchr(code, 0xf0, (size_t)(at - code)) && at + 1 < end &&
		    reg_of(at, end) == 3)
			return GATE_EMULATE;
		break;
	case 0x0f:
		return at + 1 < end ? gate_two_byte(at + 1, end) : GATE_OPEN;
	case 0xd9:
		return at + 1 < end && is_inexact_x87(at[1]) ? GATE_VALUE :
							       GATE_OPEN;
	case 0x6c: case 0x6d: case 0x6e: case 0x6f:	/* INS, OUTS */
	case 0xe4: case 0xe5: case 0xe6: case 0xe7:	/* IN, OUT */
	case 0xec: case 0xed: case 0xee: case 0xef:
	case 0xf4: case 0xfa: case 0xfb:		/* HLT, CLI, STI */
		return GATE_PRIVILEGE;
	case 0xcc: case 0xcd: case 0xf1:		/* INT3, INT n, INT1 */
		return GATE_INT;
	case 0x8c:				/* MOV from a selector */
		return reg_of(at, end) < 6 ? GATE_EMULATE : GATE_INVALID;
	case 0x8e:
		return gate_load_selector(reg_of(at, end));
	case 0x9d:					/* POPF */
		return GATE_EMULATE;
	case 0xcf:					/* IRET */
	case 0xca: case 0xcb:				/* RETF */
		return GATE_INVALID;
	case 0xff:					/* far CALL, JMP */
		if (at + 1 < end && at[1] < 0xc0 &&
		    (reg_of(at, end) == 3 || reg_of(at, end) == 5))
			return GATE_INVALID;
		break;
	}
	return GATE_OPEN;
}
