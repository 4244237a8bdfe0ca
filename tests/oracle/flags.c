/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flags.c - see flags.h */
#include "tests/oracle/flags.h"

#define OF_RESULT (FLAG_SIGN | FLAG_ZERO | FLAG_PARITY)
#define ALL_FLAGS (FLAG_CARRY | FLAG_ADJUST | FLAG_OVERFLOW | OF_RESULT)

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return (byte & 0xf0) == 0x40;
	}
}

void instruction_decode(struct instruction *out, const uint8_t *bytes)
{
	size_t at = 0;

	*out = (struct instruction){ .map = 1 };
	for (; at < INSTRUCTION_MAX - 4 && is_prefix(bytes[at]); at++) {
		if (bytes[at] == 0x66)
			out->narrow = true;
		if (bytes[at] == 0xf2 || bytes[at] == 0xf3)
			out->rep = bytes[at];
	}
	if (bytes[at] == 0x0f) {
		at++;
		out->map = 2;
		if (bytes[at] == 0x38 || bytes[at] == 0x3a)
			out->map = bytes[at++] == 0x38 ? 3 : 4;
	}
	out->opcode = bytes[at];
	out->modrm = bytes[at + 1];
	out->after = bytes[at + 2];
}

static bool is_string(uint8_t opcode)
{
	return (0xa4 <= opcode && opcode <= 0xa7) ||
	       (0xaa <= opcode && opcode <= 0xaf) ||
	       (0x6c <= opcode && opcode <= 0x6f);
}

bool is_repeated(const struct instruction *instruction)
{
	return instruction->map == 1 && instruction->rep &&
	       is_string(instruction->opcode);
}

bool is_system_call(const struct instruction *instruction)
{
	return instruction->map == 2 && instruction->opcode == 0x05;
}

bool is_push_flags(const struct instruction *instruction)
{
	return instruction->map == 1 && instruction->opcode == 0x9c;
}

static unsigned extension(const struct instruction *instruction)
{
	return instruction->modrm >> 3 & 7;
}

/* or, and, xor among the eight of add or adc sbb and sub xor cmp */
static unsigned after_arithmetic(unsigned which)
{
	return which == 1 || which == 4 || which == 6 ? FLAG_ADJUST : 0;
}

/*
 * Counts of one define the overflow flag; counts in CL may be zero and then
 * change nothing; where in doubt a flag counts as undefined.
 */
static unsigned after_shift(const struct instruction *instruction,
			    unsigned undefined)
{
	bool is_one = (instruction->opcode & 0xfe) == 0xd0;
	bool is_rotate = extension(instruction) < 4;
	bool is_narrow = instruction->narrow || !(instruction->opcode & 1);

	if (is_rotate && is_one)
		return undefined & ~(unsigned)(FLAG_CARRY | FLAG_OVERFLOW);
	if (is_rotate)
		return undefined | FLAG_OVERFLOW;
	if (is_one)
		return FLAG_ADJUST;
	undefined |= FLAG_ADJUST | FLAG_OVERFLOW;
	return is_narrow ? undefined | FLAG_CARRY : undefined;
}

/* F6 and F7: test test not neg mul imul div idiv */
static unsigned after_unary(const struct instruction *instruction,
			    unsigned undefined)
{
	switch (extension(instruction)) {
	case 0: case 1:
		return FLAG_ADJUST;
	case 2:
		return undefined;
	case 3:
		return 0;
	case 4: case 5:
		return OF_RESULT | FLAG_ADJUST;
	default:
		return ALL_FLAGS;
	}
}

static unsigned after_one_byte(const struct instruction *instruction,
			       unsigned undefined)
{
	uint8_t opcode = instruction->opcode;

	if (opcode < 0x40 && (opcode & 7) < 6)
		return after_arithmetic(opcode >> 3);
	switch (opcode) {
	case 0x80: case 0x81: case 0x83:
		return after_arithmetic(extension(instruction));
	case 0x84: case 0x85: case 0xa8: case 0xa9:
		return FLAG_ADJUST;
	case 0x69: case 0x6b:
		return OF_RESULT | FLAG_ADJUST;
	case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2: case 0xd3:
		return after_shift(instruction, undefined);
	case 0xf6: case 0xf7:
		return after_unary(instruction, undefined);
	case 0xfe: case 0xff:
		return extension(instruction) < 2 ? undefined & FLAG_CARRY :
						    undefined;
	case 0xa6: case 0xa7: case 0xae: case 0xaf:	/* cmps, scas */
	case 0x9d:					/* popf */
		return 0;
	case 0x9e:					/* sahf */
		return undefined & FLAG_OVERFLOW;
	case 0xf5: case 0xf8: case 0xf9:		/* cmc clc stc */
		return undefined & ~(unsigned)FLAG_CARRY;
	case 0xdb: case 0xdf:				/* fucomi, fcomip */
		return instruction->modrm >= 0xe8 &&
		       instruction->modrm < 0xf8 ? 0 : undefined;
	default:
		return undefined;
	}
}

static unsigned after_two_bytes(const struct instruction *instruction,
				unsigned undefined)
{
	switch (instruction->opcode) {
	case 0xaf:					/* imul */
		return OF_RESULT | FLAG_ADJUST;
	case 0xa3: case 0xab: case 0xb3: case 0xbb: case 0xba:	/* bt... */
		return (undefined & FLAG_ZERO) | FLAG_OVERFLOW | FLAG_SIGN |
		       FLAG_ADJUST | FLAG_PARITY;
	case 0xa4: case 0xa5: case 0xac: case 0xad:	/* shld, shrd */
		return undefined | FLAG_ADJUST | FLAG_OVERFLOW |
		       (instruction->narrow ? ALL_FLAGS : 0);
	case 0xbc: case 0xbd:				/* bsf, bsr */
		return ALL_FLAGS & ~(unsigned)FLAG_ZERO;
	case 0xb8:					/* popcnt */
	case 0xb0: case 0xb1: case 0xc0: case 0xc1:	/* cmpxchg, xadd */
	case 0x2e: case 0x2f:				/* ucomis, comis */
		return 0;
	case 0xc7:					/* cmpxchg16b */
		return undefined & ~(unsigned)FLAG_ZERO;
	default:
		return undefined;
	}
}

unsigned flags_after(const struct instruction *instruction, unsigned undefined,
		     bool no_iterations)
{
	if (no_iterations)
		return undefined;
	switch (instruction->map) {
	case 1:
		return after_one_byte(instruction, undefined);
	case 2:
		return after_two_bytes(instruction, undefined);
	case 3:						/* ptest */
		return instruction->opcode == 0x17 ? 0 : undefined;
	default:					/* pcmpestri ... */
		return (instruction->opcode & 0xfc) == 0x60 ? 0 : undefined;
	}
}
