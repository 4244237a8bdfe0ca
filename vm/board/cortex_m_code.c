/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cortex_m_code.c - Thumb code: how many instructions it is, and those that need
 * attention
 *
 * The engine divides by zero without a fault, and executes floating point even
 * if nobody may.  So such an instruction begins a block as long as it matters,
 * and is looked at whenever the block is entered.  Of floating point it matters
 * while CONTROL.FPCA is clear: the first instruction of a context begins it.
 * The engine has other translations of the same code when FPCA is set.
 *
 * Source: ARMv7-M Architecture Reference Manual, A5, A7.3 (IT), B1.4.7 (FP).
 */
#include "vm/board/cortex_m.h"

#include <string.h>

#define BRANCH_TO_ITSELF 0xe7feu

static bool half_at(const struct board *board, guest_addr pc, uint32_t *half)
{
	const uint8_t *bytes = board_bytes(board, pc, 2);

	*half = bytes ? bytes[0] | (uint32_t)bytes[1] << 8 : 0;
	return bytes;
}

uint32_t cm_insn(const struct board *board, guest_addr pc, unsigned *size)
{
	uint32_t first, second;

	half_at(board, pc, &first);
	*size = first >> 11 >= 0x1d ? 4 : 2;
	if (*size == 2)
		return first;
	half_at(board, pc + 2, &second);
	return first << 16 | second;
}

unsigned cm_size(const struct board *board, guest_addr pc)
{
	unsigned size;

	cm_insn(board, pc, &size);
	return size;
}

unsigned cm_count(const struct board *board, guest_addr pc, uint32_t size)
{
	unsigned count = 0, each;

	/* Where code is not Thumb, its first instruction faults. */
	if (!(cm_reg(board, CM_XPSR) & XPSR_THUMB))
		return size != 0;
	for (uint32_t at = 0; at < size; at += each) {
		cm_insn(board, pc + at, &each);
		count++;
	}
	return count;
}

/* ------- which need attention ------- */

bool cm_is_coprocessor(uint32_t insn, unsigned size)
{
	return size == 4 && (insn & 0xec000000) == 0xec000000;
}

static bool is_float(uint32_t insn, unsigned size)
{
	return cm_is_coprocessor(insn, size) && (insn & 0xe00) == 0xa00 &&
	       (insn & 0x0f000000) != 0x0f000000;
}

static bool is_division(uint32_t insn, unsigned size)
{
	return size == 4 && (insn & 0xffd0f0f0) == 0xfb90f0f0;
}

static bool may_float(const struct board *board)
{
	unsigned access = *cm_system(board, CM_CPACR) >> 20 & 3;

	return access == 3 || (access == 1 && cm_is_privileged(board));
}

/* What is attended to at present. */
struct attention {
	bool floats, divisions;
};

static struct attention attention_of(const struct board *board)
{
	return (struct attention){
		.floats = board->cortex_m->has_float &&
			  (!(cm_reg(board, CM_CONTROL) & CONTROL_FPCA) ||
			   !may_float(board)),
		.divisions = *cm_system(board, CM_CCR) & CCR_DIV_0_TRP,
	};
}

static bool needs(const struct attention *attention, uint32_t insn,
		  unsigned size)
{
	return (attention->floats && is_float(insn, size)) ||
	       (attention->divisions && is_division(insn, size));
}

unsigned cm_limit(struct board *board, guest_addr pc, unsigned most)
{
	const struct attention attention = attention_of(board);
	unsigned size;
	uint32_t half;

	if (!attention.floats && !attention.divisions)
		return most;
	for (unsigned i = 0; i < most && half_at(board, pc, &half); i++) {
		uint32_t insn = cm_insn(board, pc, &size);

		if (needs(&attention, insn, size))
			return i ? i : 1;
		pc += size;
	}
	return most;
}

/* ------- attending to one ------- */

/* Whether the next instruction is executed, by what IT says of it. */
static bool is_wanted(const struct board *board)
{
	uint32_t xpsr = cm_reg(board, CM_XPSR);
	unsigned it = (xpsr >> 8 & 0xfc) | (xpsr >> 25 & 3);
	bool n = xpsr >> 31, z = xpsr >> 30 & 1, c = xpsr >> 29 & 1;
	bool v = xpsr >> 28 & 1, met;

	if (!(it & 15))
		return true;
	switch (it >> 5) {
	case 0:
		met = z;
		break;
	case 1:
		met = c;
		break;
	case 2:
		met = n;
		break;
	case 3:
		met = v;
		break;
	case 4:
		met = c && !z;
		break;
	case 5:
		met = n == v;
		break;
	case 6:
		met = !z && n == v;
		break;
	default:
		return true;
	}
	return met != (it >> 4 & 1);
}

/* A context of floating point begins; the block is entered anew. */
static void begin_float(struct board *board, guest_addr pc)
{
	uint32_t settings = *cm_system(board, CM_FPDSCR);

	board_leave_block(board, pc);
	board_set_reg(board, CM_CONTROL,
		      cm_reg(board, CM_CONTROL) | CONTROL_FPCA);
	board_set_reg(board, CM_FPSCR, settings);
	board_set_reg(board, CM_PC, pc);
}

static void attend_float(struct board *board, guest_addr pc)
{
	if (!may_float(board)) {
		board_leave_block(board, pc);
		cm_fault(board, CFSR_NOCP, pc);
		return;
	}
	cm_preserve_float(board);
	if (!(cm_reg(board, CM_CONTROL) & CONTROL_FPCA) &&
	    *cm_system(board, CM_FPCCR) & FPCCR_ASPEN)
		begin_float(board, pc);
}

/* Only an NMI interrupts the handler of HardFault, and nothing that of NMI. */
static bool ends_in_loop(const struct board *board)
{
	unsigned number = cm_reg(board, CM_XPSR) & XPSR_EXCEPTION;

	return number == CM_NMI || number == CM_HARD_FAULT;
}

bool cm_enter(struct board *board, const struct engine_block *block)
{
	const struct attention attention = attention_of(board);
	unsigned size;
	uint32_t insn = cm_insn(board, block->pc, &size);

	if (insn == BRANCH_TO_ITSELF && ends_in_loop(board)) {
		board_leave_block(board, block->pc);
		cm_lock_up(board, "its handler loops for ever", block->pc);
		return false;
	}
	if (!needs(&attention, insn, size))
		return true;
	if (!is_wanted(board))
		return false;
	if (is_float(insn, size)) {
		attend_float(board, block->pc);
	} else if (!cm_reg(board, CM_R0 + (insn & 15))) {
		board_leave_block(board, block->pc);
		cm_fault(board, CFSR_DIVBYZERO, block->pc);
	}
	return false;
}

/* WFI, of 16 and of 32 bits. */
bool cm_waits(const struct board *board, guest_addr pc)
{
	uint32_t last, first;

	half_at(board, pc - 2, &last);
	half_at(board, pc - 4, &first);
	return last == 0xbf30 || (first == 0xf3af && last == 0x8003);
}
