/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.c - see insn.h */
#include "vm/arch/x86/insn.h"

#include <string.h>

#include "formats/registers.h"

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
	PLACE = 'a',		/* an address of 4 bytes */
	TEST_BYTE = 't',	/* ModRM; if its register is 0 or 1 ... */
	TEST_WORD = 'T',	/* ... an immediate too */
	RARE = ' ',		/* prefixes, invalid, VEX, ... */
	CUT_OFF = 0,		/* the opcode goes on */
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

/* Of code of 32 bits; BOUND, LES and LDS are VEX, or EVEX, with a register. */
static const char one_byte_32[] =
	"mmmm14..mmmm14. "	/* 00 */
	"mmmm14..mmmm14.."	/* 10 */
	"mmmm14 .mmmm14 ."	/* 20 */
	"mmmm14 .mmmm14 ."	/* 30 */
	"................"	/* 40 */
	"................"	/* 50 */
	"..mm    4w1b...."	/* 60 */
	"1111111111111111"	/* 70 */
	"bwbbmmmmmmmmmmm "	/* 80 */
	".......... ....."	/* 90 */
	"aaaa....14......"	/* a0 */
	"1111111188888888"	/* b0 */
	"bb2.mmbw .   1. "	/* c0 */
	"mmmm11..mmmmmmmm"	/* d0 */
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

/* ------- prefixes ------- */

/* Notes a prefix; false if the byte is none. */
static bool take_prefix(struct x86_parts *insn, uint8_t byte)
{
	switch (byte) {
	case 0xf0:
		insn->lock = true;
		return true;
	case 0x66:
		insn->has_66 = true;
		if (!insn->simd)
			insn->simd = byte;
		return true;
	case 0xf2: case 0xf3:
		insn->repeated = true;
		insn->simd = byte;
		return true;
	case 0x67:
		insn->short_address = true;
		return true;
	case 0x64:
		insn->segment = X86_FS_BASE;
		return true;
	case 0x65:
		insn->segment = X86_GS_BASE;
		return true;
	case 0x26: case 0x2e: case 0x36: case 0x3e:
		return true;
	}
	return false;
}

static size_t take_prefixes(struct x86_parts *insn)
{
	size_t at = 0;

	while (at < insn->known) {
		uint8_t byte = insn->code[at];
		bool is_rex = !insn->is_32 && (byte & 0xf0) == 0x40;

		if (!is_rex && !take_prefix(insn, byte))
			break;
		/* The engine heeds it also in front of other prefixes. */
		insn->is_odd |= insn->rex && !is_rex;
		if (is_rex)
			insn->rex = byte;
		at++;
	}
	insn->is_short = insn->has_66 && !(insn->rex & 8);
	insn->opcode_at = (uint8_t)at;
	return at;
}

/* ------- opcode and what follows ------- */

static char one_byte_form(const struct x86_parts *insn, size_t behind)
{
	const uint8_t opcode = insn->opcode;
	bool may_be_vex = opcode == 0x62 || opcode == 0xc4 || opcode == 0xc5;

	if (!insn->is_32)
		return one_byte[opcode];
	if (may_be_vex && (behind == insn->known || insn->code[behind] >= 0xc0))
		return RARE;
	return one_byte_32[opcode];
}

/* Reads the opcode at `*at`, which then is behind it; what follows. */
static char take_opcode(struct x86_parts *insn, size_t *at)
{
	insn->opcode = insn->code[(*at)++];
	if (insn->opcode != 0x0f)
		return one_byte_form(insn, *at);
	insn->map = MAP_0F;
	if (*at == insn->known)
		return CUT_OFF;
	insn->opcode = insn->code[(*at)++];
	if (insn->opcode != 0x38 && insn->opcode != 0x3a)
		return two_byte[insn->opcode];
	if (*at == insn->known)
		return CUT_OFF;
	insn->map = insn->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
	insn->opcode = insn->code[(*at)++];
	return insn->map == MAP_0F38 ? MODRM : MODRM_BYTE;
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

static size_t immediate_length(char form, const struct x86_parts *insn)
{
	size_t word = insn->is_short ? 2 : 4;

	switch (form) {
	case BYTE: case MODRM_BYTE:
		return 1;
	case RETURN:
		return 2;
	case WORD: case MODRM_WORD:
		return word;
	case BRANCH:
	case PLACE:
		return 4;
	case WIDE:
		return insn->rex & 8 ? 8 : word;
	case TEST_BYTE:
		return insn_group(insn) < 2 ? 1 : 0;
	case TEST_WORD:
		return insn_group(insn) < 2 ? word : 0;
	default:
		return 0;
	}
}

static bool has_modrm(char form)
{
	return form == MODRM || form == MODRM_BYTE || form == MODRM_WORD ||
	       form == TEST_BYTE || form == TEST_WORD;
}

/* What only a disassembler knows the size of. */
static bool is_rare(const struct x86_parts *insn, char form)
{
	bool has_register = has_modrm(form) && insn_names_register(insn);

	return form == RARE ||
	       (insn->is_32 && insn->short_address && !has_register) ||
	       (insn->has_66 && (form == BRANCH || form == RETURN));
}

/* The size, where the opcode with what follows is at `at`; 0: not known. */
static size_t take_rest(struct x86_parts *insn, char form, size_t at)
{
	size_t operand = 0, immediate;

	insn->has_modrm = has_modrm(form);
	insn->is_cut_off = form == CUT_OFF ||
			   (insn->has_modrm && at == insn->known);
	if (insn->is_cut_off || is_rare(insn, form))
		return 0;
	if (insn->has_modrm) {
		operand = modrm_length(insn->code + at, insn->known - at);
		insn->is_cut_off = !operand;
		if (!operand)
			return 0;
	}
	at += operand;
	immediate = immediate_length(form, insn);
	insn->immediate_at = immediate ? (uint8_t)at : 0;
	at += immediate;
	insn->is_cut_off = at > insn->known;
	return at <= insn->known && !insn->is_odd ? at : 0;
}

void x86_take_apart(bool is_32, const uint8_t *code, size_t left,
		    struct x86_parts *out)
{
	size_t at;
	char form;

	memset(out, 0, sizeof(*out));
	out->code = code;
	out->is_32 = is_32;
	out->known = (uint8_t)(left < X86_INSN_MOST ? left : X86_INSN_MOST);
	at = take_prefixes(out);
	out->is_cut_off = at == out->known;
	if (out->is_cut_off)
		return;
	form = take_opcode(out, &at);
	out->behind_at = (uint8_t)at;
	if (at < out->known)
		out->behind = code[at];
	out->size = (uint8_t)take_rest(out, form, at);
	out->has_opcode = form != CUT_OFF;
	if (out->has_opcode)
		out->class = x86_classify(out);
}

/* ------- the operand in memory ------- */

static bool take_displacement(const uint8_t *at, const uint8_t *end,
			      unsigned size, struct operand_form *out)
{
	out->displacement = 0;
	if (end - at < (ptrdiff_t)size)
		return false;
	if (size == 1)
		out->displacement = (int8_t)*at;
	else
		memcpy(&out->displacement, at, size);
	return true;
}

/* ModR/M and what comes behind; the registers' high bits are in REX. */
static bool take_address(const struct x86_parts *insn, const uint8_t *at,
			 const uint8_t *end, struct operand_form *out)
{
	unsigned rex = insn->rex;
	unsigned mod = *at >> 6, rm = *at & 7;
	unsigned size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	at++;
	out->base = (int8_t)(rm | (rex & 1) << 3);
	out->index = OPERAND_NONE;
	out->shift = 0;
	if (rm == 4) {
		if (at >= end)
			return false;
		out->base = (int8_t)((*at & 7) | (rex & 1) << 3);
		out->index = (int8_t)((*at >> 3 & 7) | (rex & 2) << 2);
		out->shift = *at >> 6;
		if (out->index == 4)
			out->index = OPERAND_NONE;
		if (mod == 0 && (*at & 7) == 5) {
			out->base = OPERAND_NONE;
			size = 4;
		}
		at++;
	} else if (mod == 0 && rm == 5) {
		out->base = insn->is_32 ? OPERAND_NONE : OPERAND_NEXT;
		size = 4;
	}
	return take_displacement(at, end, size, out);
}

bool insn_operand(const struct x86_parts *insn, struct operand_form *out)
{
	const uint8_t *end =
		insn->code + (insn->size ? insn->size : insn->known);
	const uint8_t *modrm = insn->code + insn->behind_at;

	out->segment = insn->segment;
	return modrm < end && !insn_names_register(insn) &&
	       !insn->short_address &&
	       take_address(insn, modrm, end, out);
}
