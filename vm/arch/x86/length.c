/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * length.c - how long an instruction of x86-64 is, without decoding it
 *
 * For each block that the guest meets, the lengths of its instructions are
 * all that counting needs; a disassembler takes twenty times as long to tell
 * them.  What is rare is left to it.
 *
 * Source: Intel 64 SDM volume 2, section 2.1 and appendix A (opcode maps).
 */
#include "vm/arch/x86/length.h"

#include <stdbool.h>

/* What follows an opcode; a letter each in the maps below. */
enum {
	NOTHING = '.',
	MODRM = 'm',
	MODRM_BYTE = 'b',	/* ModRM and an immediate byte */
	MODRM_WORD = 'w',	/* ModRM and 4 bytes, 2 with prefix 66 */
	BYTE = '1',
	WORD = '4',		/* 4 bytes, 2 with prefix 66 */
	WIDE = '8',		/* the same, 8 with REX.W */
	BRANCH = 'j',		/* 4 bytes; prefix 66 is another matter */
	RETURN = '2',		/* 2 bytes; the same */
	TEST_BYTE = 't',	/* ModRM; if its register is 0 or 1 ... */
	TEST_WORD = 'T',	/* ... an immediate too */
	RARE = ' ',		/* prefixes, invalid, VEX, ... */
};

static const char one_byte[] =
	"mmmm14  mmmm14  "	/* 00 */
	"mmmm14  mmmm14  "	/* 10 */
	"mmmm14  mmmm14  "	/* 20 */
	"mmmm14  mmmm14  "	/* 30 */
	"                "	/* 40: REX */
	"................"	/* 50 */
	"   m    4w1b...."	/* 60 */
	"1111111111111111"	/* 70 */
	"bw bmmmmmmmmmmm "	/* 80 */
	".......... ....."	/* 90 */
	"    ....14......"	/* a0 */
	"1111111188888888"	/* b0 */
	"bb2.  bw .   1 ."	/* c0 */
	"mmmm   .mmmmmmmm"	/* d0 */
	"11111111jj 1...."	/* e0 */
	" .  ..tT......mm";	/* f0 */

static const char two_byte[] =
	"mmmm .. .. . m  "	/* 0f 00 */
	"mmmmmmmmmmmmmmmm"	/* 0f 10 */
	"        mmmmmmmm"	/* 0f 20 */
	"....            "	/* 0f 30 */
	"mmmmmmmmmmmmmmmm"	/* 0f 40 */
	"mmmmmmmmmmmmmmmm"	/* 0f 50 */
	"mmmmmmmmmmmmmmmm"	/* 0f 60 */
	"bbbbmmm.    mmmm"	/* 0f 70 */
	"jjjjjjjjjjjjjjjj"	/* 0f 80 */
	"mmmmmmmmmmmmmmmm"	/* 0f 90 */
	"...mbm  ...mbmmm"	/* 0f a0 */
	"mm m  mmm bmmmmm"	/* 0f b0 */
	"mmbmbbbm........"	/* 0f c0 */
	"mmmmmmmmmmmmmmmm"	/* 0f d0 */
	"mmmmmmmmmmmmmmmm"	/* 0f e0 */
	"mmmmmmmmmmmmmmm ";	/* 0f f0 */

struct prefixes {
	unsigned count;
	bool operand;		/* 66 */
	bool wide;		/* REX.W */
	bool lock;
};

static struct prefixes take_prefixes(const uint8_t *code, size_t size)
{
	struct prefixes found = { 0 };

	for (; found.count < size; found.count++) {
		switch (code[found.count]) {
		case 0xf0:
			found.lock = true;
			break;
		case 0x66:
			found.operand = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64:
		case 0x65: case 0x67: case 0xf2: case 0xf3:
			break;
		default:
			if ((code[found.count] & 0xf0) == 0x40)
				found.wide = code[found.count++] & 8;
			return found;
		}
	}
	return found;
}

/* ModRM, SIB and displacement; 0 if they go beyond the end. */
static size_t modrm_length(const uint8_t *at, size_t left)
{
	uint8_t mod, base;
	size_t length = 1;

	if (!left)
		return 0;
	mod = at[0] >> 6;
	base = at[0] & 7;
	if (mod == 3)
		return 1;
	if (base == 4) {
		if (left < 2)
			return 0;
		base = at[1] & 7;
		length = 2;
	}
	if (mod == 1)
		length += 1;
	else if (mod == 2 || base == 5)
		length += 4;
	return length;
}

static size_t immediate_length(char form, const struct prefixes *prefixes,
			       uint8_t modrm)
{
	size_t word = prefixes->operand && !prefixes->wide ? 2 : 4;

	switch (form) {
	case BYTE: case MODRM_BYTE:
		return 1;
	case RETURN:
		return 2;
	case WORD: case MODRM_WORD:
		return word;
	case BRANCH:
		return 4;
	case WIDE:
		return prefixes->wide ? 8 : word;
	case TEST_BYTE:
		return (modrm >> 3 & 7) < 2 ? 1 : 0;
	case TEST_WORD:
		return (modrm >> 3 & 7) < 2 ? word : 0;
	default:
		return 0;
	}
}

static bool has_modrm(char form)
{
	return form == MODRM || form == MODRM_BYTE || form == MODRM_WORD ||
	       form == TEST_BYTE || form == TEST_WORD;
}

/* What follows the opcode at `*at`, which then is behind it. */
static char form_of(const uint8_t *code, size_t size, size_t *at)
{
	uint8_t opcode = code[(*at)++];

	if (opcode != 0x0f)
		return one_byte[opcode];
	if (*at == size)
		return RARE;
	opcode = code[(*at)++];
	if (opcode != 0x38 && opcode != 0x3a)
		return two_byte[opcode];
	if ((*at)++ == size)
		return RARE;
	return opcode == 0x38 ? MODRM : MODRM_BYTE;
}

size_t x86_length(const uint8_t *code, size_t size)
{
	struct prefixes prefixes = take_prefixes(code, size);
	size_t at = prefixes.count, operand = 0;
	uint8_t modrm = 0;
	char form;

	if (at == size || prefixes.lock)
		return 0;
	form = form_of(code, size, &at);
	if (form == RARE ||
	    (prefixes.operand && (form == BRANCH || form == RETURN)))
		return 0;
	if (has_modrm(form)) {
		operand = modrm_length(code + at, size - at);
		if (!operand)
			return 0;
		modrm = code[at];
	}
	at += operand + immediate_length(form, &prefixes, modrm);
	return at <= size && at <= X86_INSN_MOST ? at : 0;
}
