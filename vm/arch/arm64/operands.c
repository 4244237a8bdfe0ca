/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands.c - where a load or store wanted to go
 *
 * Source: Arm Architecture Reference Manual, C4.1.94 (loads and stores).
 */
#include "vm/arch/arm64/arm64.h"

static int64_t signed_field(uint32_t word, unsigned at, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - at - bits)) >> (64 - bits);
}

/* The register that the address begins with: number 31 is SP. */
static uint64_t base(struct cpu *cpu, uint32_t word)
{
	unsigned number = word >> 5 & 31;

	return arm64_read_reg(cpu, number == 31 ? ARM64_SP :
						  ARM64_X0 + number);
}

/* LDP and the like. */
static guest_addr pair(struct cpu *cpu, uint32_t word)
{
	bool is_vector = word >> 26 & 1, is_behind = (word >> 23 & 3) == 1;
	unsigned scale = word >> 30;

	scale = is_vector ? scale + 2 : 2 + (scale >> 1);
	if (is_behind)
		return base(cpu, word);
	return base(cpu, word) +
	       (uint64_t)(signed_field(word, 15, 7) * (1 << scale));
}

/* How many times a scaled offset is doubled, of one register. */
static unsigned scale_of(uint32_t word)
{
	bool is_vector = word >> 26 & 1;
	unsigned scale = word >> 30;

	return is_vector && word >> 23 & 1 ? scale + 4 : scale;
}

static uint64_t extended(struct cpu *cpu, uint32_t word)
{
	uint64_t value = arm64_general(cpu, word >> 16 & 31);

	switch (word >> 13 & 7) {
	case 2:			/* UXTW */
		value = (uint32_t)value;
		break;
	case 6:			/* SXTW */
		value = (uint64_t)(int32_t)(uint32_t)value;
	}
	return word >> 12 & 1 ? value << scale_of(word) : value;
}

static guest_addr single(struct cpu *cpu, uint32_t word)
{
	uint64_t from = base(cpu, word);

	if (word >> 24 & 1)
		return from + ((uint64_t)(word >> 10 & 0xfff)
			       << scale_of(word));
	if (word >> 21 & 1)	/* a register; or atomic, without an offset */
		return (word >> 10 & 3) == 2 ? from + extended(cpu, word) :
					       from;
	if ((word >> 10 & 3) == 1)	/* added behind the access */
		return from;
	return from + (uint64_t)signed_field(word, 12, 9);
}

#define DC_ZVA 0xd50b7420u
#define ZVA_BYTES UINT64_C(64)

static bool find(struct cpu *cpu, guest_addr pc, uint32_t word,
		 guest_addr *addr)
{
	if ((word & 0xffffffe0) == DC_ZVA) {
		*addr = arm64_general(cpu, word & 31) & ~(ZVA_BYTES - 1);
		return true;
	}
	if ((word >> 25 & 5) != 4)
		return false;
	switch (word >> 27 & 7) {
	case 3:			/* of a literal */
		*addr = pc + (uint64_t)(signed_field(word, 5, 19) * 4);
		break;
	case 5:
		*addr = pair(cpu, word);
		break;
	case 7:
		*addr = single(cpu, word);
		break;
	default:		/* exclusive ones, several vectors */
		*addr = base(cpu, word);
	}
	return true;
}

/* The highest byte of an address is a tag. */
#define TAG_AT 56

bool arm64_operand(struct cpu *cpu, guest_addr pc, uint32_t word,
		   guest_addr *addr)
{
	if (!find(cpu, pc, word, addr))
		return false;
	*addr = (uint64_t)((int64_t)(*addr << (64 - TAG_AT)) >> (64 - TAG_AT));
	return true;
}
