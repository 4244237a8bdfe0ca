/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.h - an instruction of x86-64 or i386, taken apart
 *
 * The one decoder of the room: prefixes, opcode, ModR/M, operand in memory,
 * immediate, length, and the row of the table in classes.c that says what must
 * become of the instruction.  It takes a twentieth of the time of a
 * disassembler.  Rare instructions are left to that: then the size is 0, and
 * the parts are those that were found.
 *
 * Source: Intel 64 SDM volume 2, section 2.1 and appendix A (opcode maps).
 */
#ifndef CPREC_VM_ARCH_X86_INSN_H
#define CPREC_VM_ARCH_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"

#define X86_INSN_MOST 15u	/* bytes */

enum x86_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_COUNT };

/* What must become of an instruction. */
enum gate {
	GATE_OPEN,		/* the engine executes it */
	GATE_TSC, GATE_TSCP, GATE_CPUID,	/* its result is captured */
	GATE_HOST,		/* so is that of the host's processor */
	GATE_EMULATE,		/* x86_emulate() */
	GATE_PRIVILEGE,
	GATE_INVALID,
	GATE_INT,
};

/* What it has to do with flags of floating-point exceptions; see float.c. */
enum float_kind {
	FLOAT_OTHER,
	FLOAT_SHOWS_SSE,	/* STMXCSR */
	FLOAT_SHOWS,		/* FXSAVE, FNSTSW, FNSTENV */
	FLOAT_CLEARS,		/* FNCLEX, FNINIT, FNSAVE */
	FLOAT_CONTROLS,		/* FLDCW */
	FLOAT_LOADS_SSE,	/* LDMXCSR */
	FLOAT_LOADS,		/* FLDENV, FRSTOR */
	FLOAT_LOADS_ALL,	/* FXRSTOR */
	FLOAT_SSE,		/* any other that may raise one */
	FLOAT_X87,		/* the same, and whatever else looks for some */
};

/* What the table says of an instruction. */
struct x86_class {
	enum gate gate;
	enum float_kind kind;
	bool ends_block;	/* the engine ends a block behind it */
	bool is_string;		/* INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS */
	bool is_aligned;	/* its operand in memory must be */
};

struct x86_parts {
	const uint8_t *code;
	uint8_t size;		/* 0: ask a disassembler */
	uint8_t known;		/* bytes that there are to look at */
	bool is_cut_off;	/* more of it is behind those */
	uint8_t opcode_at;	/* where it begins, behind all prefixes */
	uint8_t behind_at;	/* and what follows it: ModR/M, if it has one */
	uint8_t immediate_at;	/* 0: none */
	enum x86_map map;
	uint8_t opcode;		/* its last byte */
	uint8_t behind;		/* ModR/M, or whatever follows; 0: nothing */
	uint8_t rex;		/* 0: none */
	uint8_t simd; /* 66, F3 or F2 where it selects among SSE forms */
	bool is_32;		/* of code of 32 bits */
	bool is_odd;		/* has REX in front of other prefixes */
	bool has_opcode;	/* all of it is there */
	bool has_modrm, lock, repeated, is_short, has_66, short_address;
	uint8_t segment;	/* X86_FS_BASE, X86_GS_BASE or 0 */
	struct x86_class class;
};

/*
 * Takes apart the first instruction of `left` bytes, of code of 32 or 64 bits.
 * One that the processor refuses may have a size.
 */
void x86_take_apart(bool is_32, const uint8_t *code, size_t left,
		    struct x86_parts *out);

/* classes.c: looks it up; behind all else. */
struct x86_class x86_classify(const struct x86_parts *insn);

/* Bits by the opcode's low nibble, one word for each high nibble. */
typedef uint16_t opcode_rows[16];

/* refused.c: whether it is none, for its prefixes or operand. */
bool x86_is_refused(const struct x86_parts *insn);

/* ------- parts ------- */

/* ModR/M: a register; its number and that of the other operand. */
static inline bool insn_names_register(const struct x86_parts *insn)
{
	return insn->behind >= 0xc0;
}

static inline unsigned insn_reg(const struct x86_parts *insn)
{
	return (insn->behind >> 3 & 7u) | (insn->rex & 4u) << 1;
}

static inline unsigned insn_rm(const struct x86_parts *insn)
{
	return (insn->behind & 7u) | (insn->rex & 1u) << 3;
}

/* The middle field alone, where it belongs to the opcode. */
static inline unsigned insn_group(const struct x86_parts *insn)
{
	return insn->behind >> 3 & 7u;
}

/* An address, as an instruction names it. */
struct operand_form {
	int8_t base, index;	/* numbers of the encoding, or one of these */
	uint8_t shift;		/* of the index */
	uint8_t segment;	/* X86_FS_BASE, X86_GS_BASE or 0 */
	int32_t displacement;
};
enum { OPERAND_NONE = -1, OPERAND_NEXT = 16 };	/* nothing; RIP */

/* Its operand in memory; false if it has none, or one of shorter addresses. */
bool insn_operand(const struct x86_parts *insn, struct operand_form *out);

#endif
