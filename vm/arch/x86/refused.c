/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.c - instructions that are none, for their prefixes or operand
 *
 * Of vectors there is what the tables say, by prefix; a few have an operand of
 * one kind only.  LOCK may stand before some instructions that write memory.
 * Of what there is not, the engine takes some for what there is with another
 * prefix or operand, has another size for some, and does not survive some.
 *
 * Source: Intel 64 SDM volume 2, appendix A (opcode maps), LOCK.
 */
#include "vm/arch/x86/insn.h"

static bool is_in(const opcode_rows table, const struct x86_parts *insn)
{
	return table[insn->opcode >> 4] >> (insn->opcode & 15) & 1;
}

/* ------- of vectors ------- */

enum { NO_PREFIX, PREFIX_66, PREFIX_F3, PREFIX_F2, PREFIXES };

static unsigned prefix_of(const struct x86_parts *insn)
{
	switch (insn->simd) {
	case 0x66:
		return PREFIX_66;
	case 0xf3:
		return PREFIX_F3;
	case 0xf2:
		return PREFIX_F2;
	default:
		return NO_PREFIX;
	}
}

/* Opcodes behind 0F that are of vectors. */
static const opcode_rows of_vectors = {
	[0x1] = 0x00ff, [0x2] = 0xff00, [0x5] = 0xffff, [0x6] = 0xffff,
	[0x7] = 0xff7f, [0xc] = 0x007c, [0xd] = 0xffff, [0xe] = 0xffff,
	[0xf] = 0x7fff,
};

static const opcode_rows behind_0f[PREFIXES] = {
	{ [0x1] = 0x00ff, [0x2] = 0xff00, [0x5] = 0xffff, [0x6] = 0xcfff,
	  [0x7] = 0xc07f, [0xc] = 0x007c, [0xd] = 0xffbe, [0xe] = 0xffbf,
	  [0xf] = 0x7ffe },
	{ [0x1] = 0x00ff, [0x2] = 0xff00, [0x5] = 0xfff3, [0x6] = 0xffff,
	  [0x7] = 0xf07f, [0xc] = 0x0074, [0xd] = 0xffff, [0xe] = 0xffff,
	  [0xf] = 0x7ffe },
	{ [0x1] = 0x0047, [0x2] = 0x3400, [0x5] = 0xff0e, [0x6] = 0x8000,
	  [0x7] = 0xc001, [0xc] = 0x0004, [0xd] = 0x0040, [0xe] = 0x0040 },
	{ [0x1] = 0x0007, [0x2] = 0x3400, [0x5] = 0xf702, [0x7] = 0x3001,
	  [0xc] = 0x0004, [0xd] = 0x0041, [0xe] = 0x0040, [0xf] = 0x0001 },
};

static const opcode_rows behind_38[PREFIXES] = {
	{ [0x0] = 0x0fff, [0x1] = 0x7000 },
	{ [0x0] = 0x0fff, [0x1] = 0x70b1, [0x2] = 0x0f3f, [0x3] = 0xffbf,
	  [0x4] = 0x0003, [0xd] = 0xf800 },
	{ 0 },
	{ [0xf] = 0x0003 },		/* CRC32 */
};

static const opcode_rows behind_3a[PREFIXES] = {
	{ [0x0] = 0x8000 },
	{ [0x0] = 0xff00, [0x1] = 0x00f0, [0x2] = 0x0007, [0x4] = 0x0017,
	  [0x6] = 0x000f, [0xd] = 0x8000 },
};

/* Shifts by a number: bits by the middle field. */
static uint8_t shift_groups(const struct x86_parts *insn)
{
	if (insn->opcode != 0x73)
		return 0x54;
	return insn->simd ? 0xcc : 0x44;
}

/* Whether ModR/M names an operand of a kind that is not there. */
static bool has_wrong_operand(const struct x86_parts *insn)
{
	bool is_register = insn_names_register(insn);

	switch (insn->opcode) {
	case 0x12: case 0x16:	/* MOVLPD, MOVHPD */
		return is_register && insn->simd == 0x66;
	case 0x13: case 0x17:	/* MOVLPS, MOVHPS */
	case 0x2b: case 0xc3: case 0xe7: case 0xf0: /* MOVNT, LDDQU */
		return is_register;
	case 0x50: case 0xc5: case 0xd7: case 0xf7: /* masks, PEXTRW */
		return !is_register;
	case 0x71: case 0x72: case 0x73:
		return !is_register ||
		       !(shift_groups(insn) >> insn_group(insn) & 1);
	case 0xd6:		/* MOVDQ2Q, MOVQ2DQ */
		return !is_register && insn->simd != 0x66;
	default:
		return false;
	}
}

static bool is_no_vector(const struct x86_parts *insn)
{
	unsigned prefix = prefix_of(insn);

	switch (insn->map) {
	case MAP_0F38:
		return !is_in(behind_38[prefix], insn);
	case MAP_0F3A:
		return !is_in(behind_3a[prefix], insn);
	case MAP_0F:
		return is_in(of_vectors, insn) &&
		       (!is_in(behind_0f[prefix], insn) ||
			(insn->behind_at < insn->known &&
			 has_wrong_operand(insn)));
	default:
		return false;
	}
}

/* BT and its like with a number: the engine reads the operand first. */
static bool is_no_bit_test(const struct x86_parts *insn)
{
	return insn->map == MAP_0F && insn->opcode == 0xba &&
	       insn->behind_at < insn->known && insn_group(insn) < 4;
}

/* ------- with LOCK ------- */

/* ADD ... XOR, XCHG, NOT, NEG, INC, DEC */
static const opcode_rows locked = {
	[0x0] = 0x0303, [0x1] = 0x0303, [0x2] = 0x0303, [0x3] = 0x0003,
	[0x8] = 0x00cf, [0xf] = 0xc0c0,
};

/* BTS, BTR, BTC, CMPXCHG, XADD, CMPXCHG8B */
static const opcode_rows locked_0f = {
	[0xa] = 0x0800, [0xb] = 0x0c0b, [0xc] = 0x0083,
};

/* Bits by the middle field. */
static uint8_t locked_groups(const struct x86_parts *insn)
{
	switch (insn->map << 8 | insn->opcode) {
	case 0x80: case 0x81: case 0x82: case 0x83:
		return 0x7f;
	case 0xf6: case 0xf7:
		return 0x0c;
	case 0xfe: case 0xff:
		return 0x03;
	case MAP_0F << 8 | 0xba:
		return 0xe0;
	case MAP_0F << 8 | 0xc7:
		return 0x02;
	default:
		return 0xff;
	}
}

static bool is_wrongly_locked(const struct x86_parts *insn)
{
	if (insn->map > MAP_0F ||
	    !is_in(insn->map == MAP_0F ? locked_0f : locked, insn))
		return true;
	return insn->behind_at < insn->known &&
	       (insn_names_register(insn) ||
		!(locked_groups(insn) >> insn_group(insn) & 1));
}

bool x86_is_refused(const struct x86_parts *insn)
{
	return (insn->lock && is_wrongly_locked(insn)) || is_no_vector(insn) ||
	       is_no_bit_test(insn);
}
