/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operand.c - where a memory operand is, without the disassembler
 *
 * Source: Intel 64 SDM volume 2, 2.1 and 2.2.1 (ModR/M, SIB, REX).
 */
#include "vm/arch/x86/x86.h"

#include <string.h>

#define PREFIX_ADDRESS 0x67
#define PREFIX_FS 0x64
#define PREFIX_GS 0x65

/* The ModR/M byte behind an opcode of one, two or three bytes. */
static const uint8_t *modrm_behind(const uint8_t *at, const uint8_t *end)
{
	if (at < end && *at == 0x0f) {
		at++;
		if (at < end && (*at == 0x38 || *at == 0x3a))
			at++;
	}
	return at + 1 < end ? at + 1 : NULL;
}

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

/* ModR/M and what comes behind; the registers' high bits are in `rex`. */
static bool take_address(const uint8_t *at, const uint8_t *end, unsigned rex,
			 struct operand_form *out)
{
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
		out->base = OPERAND_NEXT;
		size = 4;
	}
	return take_displacement(at, end, size, out);
}

bool operand_decode(const uint8_t *code, const uint8_t *opcode,
		    const uint8_t *end, struct operand_form *out)
{
	const uint8_t *modrm = modrm_behind(opcode, end);
	unsigned rex = 0;

	out->segment = 0;
	if (!modrm || *modrm >= 0xc0)
		return false;
	for (const uint8_t *at = code; at < opcode; at++) {
		if (*at == PREFIX_ADDRESS)
			return false;
		if (*at == PREFIX_FS)
			out->segment = X86_FS_BASE;
		if (*at == PREFIX_GS)
			out->segment = X86_GS_BASE;
		if (at + 1 == opcode && (*at & 0xf0) == 0x40)
			rex = *at;
	}
	return take_address(modrm, end, rex, out);
}

/* By its number in the encoding. */
static uint64_t live_register(struct cpu *cpu, int number)
{
	uint64_t value;

	memcpy(&value, engine_x86(cpu->engine)->general + 8 * number, sizeof(value));
	return value;
}

guest_addr operand_at(struct cpu *cpu, const struct operand_form *form,
		      guest_addr next)
{
	guest_addr addr = (guest_addr)(int64_t)form->displacement;

	if (form->base == OPERAND_NEXT)
		addr += next;
	else if (form->base != OPERAND_NONE)
		addr += live_register(cpu, form->base);
	if (form->index != OPERAND_NONE)
		addr += live_register(cpu, form->index) << form->shift;
	if (form->segment)
		addr += x86_read_reg(cpu, form->segment);
	return addr;
}
