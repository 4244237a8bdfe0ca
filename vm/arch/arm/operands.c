/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands.c - where a load or store wanted to go
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, A5.2.8, A5.3, A5.5,
 * A5.6 (ARM); A6.2, A6.3 (Thumb); A7.6, A7.7 (floating point and vectors).
 */
#include "vm/arch/arm/arm.h"

enum { UP = 0x00800000, BEFORE = 0x01000000, BACK = 0x00200000 };

#define BITS(word, at, count) ((word) >> (at) & ((1u << (count)) - 1))

/* A load or store, and the register that its address begins with. */
struct operand {
	struct cpu *cpu;
	guest_addr pc;
	bool is_thumb;
	uint32_t word;
	uint32_t base;
};

/*
 * PC reads as the address of the next but one, in Thumb code in full words.
 * Who only shows code has no engine, and asks for what is relative to PC.
 */
static uint32_t reg(const struct operand *of, unsigned number)
{
	if (number != 15)
		return of->cpu->engine ?
		       (uint32_t)arm_read_reg(of->cpu, ARM_R0 + number) : 0;
	return (uint32_t)(of->is_thumb ? (of->pc + 4) & ~UINT64_C(3) :
					 of->pc + 8);
}

static uint32_t moved(const struct operand *of, uint32_t offset)
{
	return of->word & UP ? of->base + offset : of->base - offset;
}

/* An offset is added before the access, or behind it. */
static uint32_t offset_by(const struct operand *of, uint32_t offset)
{
	return of->word & BEFORE ? moved(of, offset) : of->base;
}

/* LDM, STM: the lowest address. */
static uint32_t several(const struct operand *of)
{
	unsigned size = 4 * (unsigned)__builtin_popcount(of->word & 0xffff);
	bool before = of->word & BEFORE;

	if (of->word & UP)
		return before ? of->base + 4 : of->base;
	return before ? of->base - size : of->base - size + 4;
}

/* VLDR, VSTR, VLDM, VSTM, LDC, STC. */
static bool coprocessors(const struct operand *of, uint32_t *addr)
{
	uint32_t offset = 4 * (of->word & 0xff);

	if ((of->word & 0x0fe00000) == 0x0c400000)
		return false;		/* MCRR, MRRC */
	*addr = offset_by(of, offset);
	if ((of->word & BEFORE) && (of->word & BACK) && (of->word & UP))
		*addr = of->base;	/* there is none such */
	return true;
}

/* ------- ARM code ------- */

/* A register, shifted by a constant. */
static uint32_t shifted(const struct operand *of)
{
	uint32_t value = reg(of, of->word & 15);
	unsigned by = BITS(of->word, 7, 5);
	uint32_t carry = arm_read_reg(of->cpu, ARM_CPSR) >> 29 & 1;

	switch (BITS(of->word, 5, 2)) {
	case 0:
		return value << by;
	case 1:
		return by ? value >> by : 0;
	case 2:
		return (uint32_t)((int32_t)value >> (by ? by : 31));
	default:
		return by ? value >> by | value << (32 - by) :
			    carry << 31 | value >> 1;
	}
}

/* LDRH, LDRD and the like; exclusive ones. */
static bool extra(const struct operand *of, uint32_t *addr)
{
	uint32_t word = of->word;

	if ((word & 0x90) != 0x90 || (!(word & 0x60) && !(word & BEFORE)))
		return false;		/* it computes */
	*addr = of->base;
	if (word & 0x60)
		*addr = offset_by(of, word & 0x00400000 ?
				  (word >> 4 & 0xf0) | (word & 15) :
				  reg(of, word & 15));
	return true;
}

static bool of_arm(const struct operand *of, uint32_t *addr)
{
	uint32_t word = of->word;

	if (word >> 28 == 15 && word >> 25 != 0x7e) {
		*addr = of->base;	/* of vectors */
		return (word & 0xff100000) == 0xf4000000;
	}
	switch (BITS(word, 25, 3)) {
	case 0:
		return extra(of, addr);
	case 2:
		*addr = offset_by(of, word & 0xfff);
		return true;
	case 3:
		*addr = offset_by(of, shifted(of));
		return !(word & 0x10);
	case 4:
		*addr = several(of);
		return true;
	case 6:
		return coprocessors(of, addr);
	default:
		return false;
	}
}

/* ------- Thumb code ------- */

static bool of_narrow(struct operand *of, uint32_t *addr)
{
	uint32_t word = of->word, number = BITS(word, 6, 5);
	uint32_t low = reg(of, BITS(word, 3, 3));
	uint32_t sp = reg(of, 13), count;

	switch (word >> 12) {
	case 4:
		*addr = reg(of, 15) + 4 * (word & 0xff);
		return word >> 11 == 9;
	case 5:
		*addr = low + reg(of, BITS(word, 6, 3));
		return true;
	case 6:
		*addr = low + 4 * number;
		return true;
	case 7:
		*addr = low + number;
		return true;
	case 8:
		*addr = low + 2 * number;
		return true;
	case 9:
		*addr = sp + 4 * (word & 0xff);
		return true;
	case 11:		/* PUSH, POP */
		count = (uint32_t)__builtin_popcount(word & 0x1ff);
		*addr = word & 0x800 ? sp : sp - 4 * count;
		return (word & 0x600) == 0x400;
	case 12:
		*addr = reg(of, BITS(word, 8, 3));
		return true;
	default:
		return false;
	}
}

/* LDRD, exclusive ones, TBB and TBH. */
static uint32_t dual(const struct operand *of)
{
	uint32_t word = of->word, offset = 4 * (word & 0xff);

	if (word & (BEFORE | BACK))
		return offset_by(of, offset);
	if (!(word & UP))
		return of->base + offset;
	if ((word & 0xfff0ffe0) != 0xe8d0f000)
		return of->base;
	return of->base + (reg(of, word & 15) << BITS(word, 4, 1));
}

static uint32_t single(const struct operand *of)
{
	uint32_t word = of->word, offset = word & 0xff;

	if (BITS(word, 16, 4) == 15)
		return moved(of, word & 0xfff);
	if (word & UP)
		return of->base + (word & 0xfff);
	if (!(word & 0x800))
		return of->base + (reg(of, word & 15) << BITS(word, 4, 2));
	if (!(word & 0x400))
		return of->base;
	return word & 0x200 ? of->base + offset : of->base - offset;
}

static bool of_wide(const struct operand *of, uint32_t *addr)
{
	uint32_t word = of->word;

	switch (word >> 25) {
	case 0x74:
		*addr = word & 0x00400000 ? dual(of) : several(of);
		return true;
	case 0x76:
	case 0x7e:
		return coprocessors(of, addr);
	case 0x7c:
		*addr = (word & 0xff100000) == 0xf9000000 ? of->base :
							    single(of);
		return true;
	default:
		return false;
	}
}

bool arm_operand(struct cpu *cpu, guest_addr pc, const struct arm_code *insn,
		 guest_addr *addr)
{
	struct operand of = {
		.cpu = cpu, .pc = pc, .is_thumb = insn->is_thumb,
		.word = insn->word,
	};
	uint32_t found = 0;
	bool is;

	of.base = reg(&of, BITS(insn->word, 16, 4));
	if (!insn->is_thumb)
		is = of_arm(&of, &found);
	else
		is = insn->size == 2 ? of_narrow(&of, &found) :
				       of_wide(&of, &found);
	*addr = found;
	return is;
}
