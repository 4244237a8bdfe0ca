/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.c - what instructions are, by their bits */
#include "vm/arch/arm/arm.h"

#include <string.h>

#include "vm/arch/arm/guest.h"

static unsigned halfword(const uint8_t *code)
{
	return code[0] | (unsigned)code[1] << 8;
}

struct arm_code arm_code_of(const uint8_t *code, size_t left, bool is_thumb)
{
	struct arm_code insn = { .is_thumb = is_thumb };
	bool has_two = left >= 4;

	if (left < 2 || (!is_thumb && !has_two))
		return insn;
	insn.size = is_thumb && halfword(code) < 0xe800 ? 2 : 4;
	insn.word = halfword(code);
	if (!is_thumb)
		insn.word |= halfword(code + 2) << 16;
	else if (insn.size == 4)
		insn.word = insn.word << 16 |
			    (has_two ? halfword(code + 2) : 0);
	return insn;
}

static bool is_thumb_at(struct cpu *cpu, guest_addr pc)
{
	return modes_is_thumb(arm_of(cpu)->modes, pc, arm_is_in_thumb(cpu));
}

struct arm_code arm_fetch(struct cpu *cpu, guest_addr pc)
{
	bool is_thumb = is_thumb_at(cpu, pc);
	uint8_t code[INSN_MOST];
	size_t left = memory_code_of_page(cpu->memory, pc, code, sizeof(code));
	struct arm_code insn = arm_code_of(code, left, is_thumb);

	if (insn.size > left) {
		left = memory_code(cpu->memory, pc, code, sizeof(code));
		insn = arm_code_of(code, left, is_thumb);
	}
	if (insn.size > left)
		insn.size = 0;
	return insn;
}

/* ------- what leads elsewhere, or changes the system's state ------- */

/* Those of coprocessors, which are alike in ARM and in 32 bits of Thumb code:
 * MCR and MCRR of the system's, VMSR. */
static bool changes_system(uint32_t word)
{
	unsigned coprocessor = word >> 8 & 15;

	if (coprocessor == 14 || coprocessor == 15)
		return (word & 0x0f100010) == 0x0e000010 ||
		       (word & 0x0ff00000) == 0x0c400000;
	return (word & 0x0ff00f10) == 0x0ee00a10;
}

/* CPS, SETEND, barriers of instructions, BLX; what is undefined. */
static bool unconditional_ends(uint32_t word)
{
	return word >> 25 == 0x7d || (word & 0xfff00000) == 0xf1000000 ||
	       (word & 0xfff000f0) == 0xf5700060 ||
	       (word & 0xfe400000) == 0xf8400000 ||
	       (word & 0xfe500000) == 0xf8100000 || changes_system(word);
}

static bool arm_ends(uint32_t word)
{
	unsigned target = word >> 12 & 15;

	if (word >> 28 == 15)
		return unconditional_ends(word);
	switch (word >> 25 & 7) {
	case 0: case 1:		/* of PC, or what is named so: MSR, BX */
		return target == 15 || (word & 0x0ff000f0) == 0x01200070;
	case 2: case 3:		/* LDR of PC */
		return (word & 0x0010f000) == 0x0010f000 &&
		       (word & 0x02000010) != 0x02000010;
	case 4:			/* LDM with PC */
		return (word & 0x00108000) == 0x00108000;
	case 5:			/* B, BL */
		return true;
	default:		/* SVC */
		return (word >> 24 & 15) == 15 || changes_system(word);
	}
}

static bool narrow_ends(unsigned word)
{
	switch (word >> 8) {
	case 0x44: case 0x46:	/* ADD and MOV of PC */
		return (word & 0x87) == 0x87;
	case 0x47:		/* BX, BLX */
	case 0xb1: case 0xb3: case 0xb9: case 0xbb:	/* CBZ, CBNZ */
	case 0xb6: case 0xbd: case 0xbe:	/* SETEND, CPS; POP; BKPT */
		return true;
	case 0xbf:		/* YIELD, WFE, WFI */
		return word == 0xbf10 || word == 0xbf20 || word == 0xbf30;
	default:		/* B, SVC */
		return word >> 12 == 0xd || word >> 11 == 0x1c;
	}
}

/* Branches, MSR, ISB; but not hints, MRS and other barriers. */
static bool control_ends(uint32_t word)
{
	if (word >> 20 == 0xf3a)
		return (word & 0xf) && !(word & 0x07f0);
	return word >> 20 != 0xf3e && !((word & 0xfff0ff00) == 0xf3b08f00 &&
					(word & 0xf0) != 0x60);
}

static bool wide_ends(uint32_t word)
{
	unsigned target = word >> 12 & 15;

	if ((word & 0xf8008000) == 0xf0008000)
		return control_ends(word);
	if ((word & 0xfff0ffe0) == 0xe8d0f000)	/* TBB, TBH */
		return true;
	if ((word & 0xfe500000) == 0xe8100000)	/* LDM with PC */
		return word & 0x8000;
	if ((word & 0xff700000) == 0xf8500000)	/* LDR of PC */
		return target == 15;
	return word >> 28 >= 14 && (word >> 26 & 3) == 3 &&
	       changes_system(word);
}

static bool ends_block(const struct arm_code *insn)
{
	if (!insn->is_thumb)
		return arm_ends(insn->word);
	return insn->size == 2 ? narrow_ends(insn->word) :
				 wide_ends(insn->word);
}

/* ------- special ones ------- */

#define HINT_YIELD 1u
#define HINT_WFE 2u
#define HINT_WFI 3u

/* 0: none of those. */
static unsigned hint_of(const struct arm_code *insn)
{
	uint32_t word = insn->word;

	if (!insn->is_thumb)
		return (word & 0x0fffff00) == 0x0320f000 && word >> 28 < 15 ?
			       word & 0xff : 0;
	if (insn->size == 2)
		return (word & 0xff0f) == 0xbf00 ? word >> 4 & 15 : 0;
	return (word & 0xffffff00) == 0xf3af8000 ? word & 0xff : 0;
}

/* MRC p15, 0, R, c14, c0, 0; MRRC p15, 1, R, R, c14. */
#define IS_FREQUENCY(word) (((word) & 0x0fff0fff) == 0x0e1e0f10)
#define IS_COUNTER(word) (((word) & 0x0ff00fff) == 0x0c500f1e)

/* VMUL of floats of 64 bits, VQDMULL without a sign. */
static bool is_undefined(const struct arm_code *insn)
{
	uint32_t word = insn->word;

	if (insn->size < 4 || word >> 24 != (insn->is_thumb ? 0xff : 0xf3))
		return false;
	return (word & 0x00a00f10) == 0x00200d10 ||
	       ((word & 0x00800f50) == 0x00800d00 && (word >> 20 & 3) != 3);
}

enum arm_special arm_special(const struct arm_code *insn)
{
	bool is_coprocessors = insn->is_thumb ?
		insn->size == 4 && insn->word >> 28 == 14 :
		insn->word >> 28 < 15;

	switch (hint_of(insn)) {
	case HINT_YIELD:
	case HINT_WFE:
		return SPECIAL_PAUSE;
	case HINT_WFI:
		return SPECIAL_WAIT;
	}
	if (is_coprocessors && IS_COUNTER(insn->word))
		return SPECIAL_COUNTER;
	if (is_coprocessors && IS_FREQUENCY(insn->word))
		return SPECIAL_FREQUENCY;
	return is_undefined(insn) ? SPECIAL_UNDEFINED : SPECIAL_NONE;
}

/*
 * What does nothing: in ARM code; in Thumb code, of 4 bytes and of 2, as they
 * lie in memory.
 */
#define NOP 0xe320f000u
#define NOP_WIDE 0x8000f3afu
#define NOP_NARROW 0xbf00u

void arm_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		  guest_addr pc, uint8_t *out)
{
	uint32_t nop = !arm_is_in_thumb(cpu) ? NOP :
		       size == 2	     ? NOP_NARROW : NOP_WIDE;

	(void)code;
	(void)pc;
	memcpy(out, &nop, size);
}

/* One of Thumb code may be cut off, but its size is known. */
struct insn arm_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc)
{
	bool is_thumb = arm_is_in_thumb(cpu);
	struct arm_code insn = arm_code_of(code, left, is_thumb);
	enum arm_special special;

	modes_note(arm_of(cpu)->modes, pc, is_thumb);
	if (!insn.size)
		return (struct insn){ 0 };
	special = arm_special(&insn);
	return (struct insn){
		.size = insn.size,
		.ends_block = insn.size > left || special != SPECIAL_NONE ||
			      ends_block(&insn),
		.pauses = special == SPECIAL_PAUSE,
		.special = special != SPECIAL_NONE ||
			   arm_is_astray(pc, is_thumb),
	};
}

/* ------- conditions ------- */

/* IT as one number, of its two parts in CPSR. */
static unsigned it_of(uint32_t status)
{
	return (status >> 10 & 0x3f) << 2 | (status >> 25 & 3);
}

uint32_t arm_it_advanced(uint32_t status)
{
	unsigned it = it_of(status);

	it = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
	return (status & ~ARM_CPSR_IT) | (it >> 2) << 10 | (it & 3) << 25;
}

/* Source: DDI 0406, A8.3. */
static bool condition_holds(unsigned condition, uint32_t status)
{
	bool n = status >> 31 & 1, z = status >> 30 & 1;
	bool c = status >> 29 & 1, v = status >> 28 & 1;
	const bool holds[] = {
		z, c, n, v, c && !z, n == v, n == v && !z, true,
	};

	if (condition >= 14)
		return true;
	return holds[condition >> 1] != (condition & 1);
}

bool arm_is_met(struct cpu *cpu, const struct arm_code *insn)
{
	uint32_t status = (uint32_t)arm_read_reg(cpu, ARM_CPSR);
	unsigned it = it_of(status);

	if (!insn->is_thumb)
		return condition_holds(insn->word >> 28, status);
	return !it || condition_holds(it >> 4, status);
}

/* ------- calls and returns; accesses ------- */

static enum vm_way way_of_arm(uint32_t word)
{
	uint32_t rest = word & 0x0fffffff;

	if (word >> 25 == 0x7d)			/* BLX */
		return VM_WAY_CALL;
	if (word >> 28 == 15)
		return VM_WAY_OTHER;
	if (rest >> 24 == 0x0b || (rest & ~15u) == 0x012fff30)	/* BL, BLX */
		return VM_WAY_CALL;
	/* BX LR; MOV PC, LR; POP with PC, of several or alone */
	return rest == 0x012fff1e || rest == 0x01a0f00e ||
	       (rest & 0x0fff8000) == 0x08bd8000 || rest == 0x049df004 ?
		       VM_WAY_RETURN : VM_WAY_OTHER;
}

static enum vm_way way_of_thumb(uint32_t word)
{
	if ((word & 0xffffff87) == 0x4780 ||		/* BLX, BL */
	    (word & 0xf800c000) == 0xf000c000)
		return VM_WAY_CALL;
	return word == 0x4770 || word == 0x46f7 || word >> 8 == 0xbd ||
	       (word & 0xffff8000) == 0xe8bd8000 || word == 0xf85dfb04 ?
		       VM_WAY_RETURN : VM_WAY_OTHER;
}

enum vm_way arm_way_of(const struct arm_code *insn)
{
	return insn->is_thumb ? way_of_thumb(insn->word) :
				way_of_arm(insn->word);
}

enum vm_way arm_way(struct cpu *cpu, guest_addr pc)
{
	struct arm_code insn = arm_fetch(cpu, pc);

	return insn.size ? arm_way_of(&insn) : VM_WAY_UNKNOWN;
}

bool arm_is_exclusive(const struct arm_code *insn)
{
	uint32_t word = insn->word;
	unsigned kind = word >> 4 & 15;

	if (!insn->is_thumb)
		return word >> 28 < 15 && (word & 0x0f8000f0) == 0x01800090;
	if (insn->size == 2)
		return false;
	return (word & 0xffe00000) == 0xe8400000 ||
	       ((word & 0xffe00000) == 0xe8c00000 &&
		(kind == 4 || kind == 5 || kind == 7));
}

static bool is_swap(const struct arm_code *insn)
{
	return !insn->is_thumb && insn->word >> 28 < 15 &&
	       (insn->word & 0x0fb000f0) == 0x01000090;
}

#define LOADS 0x00100000u

enum vm_order arm_order(struct cpu *cpu, guest_addr pc)
{
	struct arm_code insn = arm_fetch(cpu, pc);

	if (insn.size && arm_is_exclusive(&insn))
		return insn.word & LOADS ? VM_ATOMIC : VM_COMPARES;
	return insn.size && is_swap(&insn) ? VM_ATOMIC : VM_PLAIN;
}
