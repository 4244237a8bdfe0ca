/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.c - what instructions are, by their bits */
#include "vm/arch/arm64/arm64.h"

#include <string.h>

bool arm64_fetch(struct cpu *cpu, guest_addr pc, uint32_t *out)
{
	uint8_t bytes[ARM64_INSN_SIZE];

	if (memory_code(cpu->memory, pc, bytes, sizeof(bytes)) !=
	    sizeof(bytes))
		return false;
	memcpy(out, bytes, sizeof(*out));
	return true;
}

/* ------- kinds ------- */

/* Branches, exceptions, and what changes the system's state. */
static bool ends_block(uint32_t word)
{
	switch (word >> 24) {
	case 0x14: case 0x15: case 0x16: case 0x17:	/* B */
	case 0x94: case 0x95: case 0x96: case 0x97:	/* BL */
	case 0x34: case 0x35: case 0xb4: case 0xb5:	/* CBZ, CBNZ */
	case 0x36: case 0x37: case 0xb6: case 0xb7:	/* TBZ, TBNZ */
	case 0x54:					/* B.cond */
	case 0xd4:					/* SVC, BRK, HLT, ... */
	case 0xd6: case 0xd7:				/* BR, BLR, RET */
		return true;
	default:
		return false;
	}
}

#define YIELD 0xd503203fu
#define WFE 0xd503205fu
#define WFI 0xd503207fu

/* MSR, SYS, barriers, hints: the engine may end a block behind them. */
static bool may_end_block(uint32_t word)
{
	return word >> 22 == 0x354 && !(word >> 21 & 1);
}

/* MRS; op0, op1, CRn, CRm, op2, below it the register. */
static bool is_read_of_system(uint32_t word)
{
	return word >> 20 == 0xd53;
}

#define SYSTEM(op1, crn, crm, op2)                                             \
	(1u << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

/* As Linux does: CRm 0, and 2 to 7. */
static bool is_id(unsigned name)
{
	unsigned crm = name >> 3 & 15;

	return (name & ~0x7fu) == SYSTEM(0, 0, 0, 0) && crm != 1 && crm <= 7;
}

enum arm64_special arm64_special(uint32_t word)
{
	unsigned name = word >> 5 & 0x7fff;

	if (word == WFI)
		return SPECIAL_WAIT;
	if (!is_read_of_system(word))
		return SPECIAL_NONE;
	if (name == SYSTEM(3, 14, 0, 2))
		return SPECIAL_COUNTER;
	if (name == SYSTEM(3, 14, 0, 0))
		return SPECIAL_FREQUENCY;
	return is_id(name) ? SPECIAL_ID : SPECIAL_NONE;
}

#define NOP 0xd503201fu

void arm64_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		    guest_addr pc, uint8_t *out)
{
	const uint32_t nop = NOP;

	(void)cpu;
	(void)code;
	(void)pc;
	memcpy(out, &nop, size);
}

struct insn arm64_decode(struct cpu *cpu, const uint8_t *code, size_t left,
			 guest_addr pc)
{
	uint32_t word;
	bool pauses;

	(void)cpu;
	if (left < sizeof(word))
		return (struct insn){ 0 };
	memcpy(&word, code, sizeof(word));
	pauses = word == YIELD || word == WFE;
	return (struct insn){
		.size = sizeof(word),
		.ends_block = pauses || ends_block(word) ||
			      may_end_block(word),
		.pauses = pauses,
		.special = arm64_special(word) != SPECIAL_NONE ||
			   arm64_is_astray(pc),
	};
}

/* BL, BLR; RET. */
enum vm_way arm64_way(struct cpu *cpu, guest_addr pc)
{
	uint32_t word;

	if (!arm64_fetch(cpu, pc, &word))
		return VM_WAY_UNKNOWN;
	if (word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000)
		return VM_WAY_CALL;
	return (word & 0xfffffc1f) == 0xd65f0000 ? VM_WAY_RETURN :
						   VM_WAY_OTHER;
}

/* Exclusive ones, and those that acquire and release. */
enum vm_order arm64_order(struct cpu *cpu, guest_addr pc)
{
	uint32_t word;
	bool is_exclusive, loads;

	if (!arm64_fetch(cpu, pc, &word) || (word & 0x3f000000) != 0x08000000)
		return VM_PLAIN;
	is_exclusive = !(word >> 23 & 1);
	loads = word >> 22 & 1;
	return is_exclusive && !loads ? VM_COMPARES : VM_ATOMIC;
}
