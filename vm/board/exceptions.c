/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exceptions.c - the processor enters an exception
 *
 * Source: Arm Architecture Reference Manual, D1.3 (exception entry), D1.4.1
 * (vectors), D19.2.37 (ESR_EL1).
 */
#include "vm/board/board_internal.h"

/* EL1 with a stack pointer of its own; all masked. */
#define PSTATE_ENTERED UINT64_C(0x3c5)

/* From the vector base on. */
#define VECTOR_OWN_SP 0x200u	/* from EL1, with a stack pointer of its own */
#define VECTOR_LOWER 0x400u
#define VECTOR_IRQ 0x80u

static unsigned vector(uint64_t pstate)
{
	if (PSTATE_LEVEL(pstate) == 0)
		return VECTOR_LOWER;
	return pstate & PSTATE_OWN_SP ? VECTOR_OWN_SP : 0;
}

/* SPSR_EL1 is written last: only then the engine sees the new level. */
static void enter(struct board *board, guest_addr back, unsigned offset)
{
	uint64_t pstate = board_reg(board, ARM64_CPSR);
	uint64_t sp = board_reg(board, ARM64_SP);
	bool own = PSTATE_LEVEL(pstate) && pstate & PSTATE_OWN_SP;

	board_set_reg(board, own ? ARM64_SP_EL1 : ARM64_SP_EL0, sp);
	board_set_reg(board, ARM64_ELR, back);
	board_set_reg(board, ARM64_CPSR, PSTATE_ENTERED);
	board_set_reg(board, ARM64_SP, board_reg(board, ARM64_SP_EL1));
	board_set_reg(board, ARM64_SPSR, pstate);
	board_set_reg(board, ARM64_PC,
		      board_reg(board, ARM64_VBAR) + vector(pstate) + offset);
}

/*
 * Registers that say what the processor is, and that it does not know, are 0:
 * "MRS Xt, S3_0_C0_Cm_op2".
 */
static bool read_unknown_id(struct board *board, guest_addr pc)
{
	uint32_t insn = board_insn(board, pc);

	if ((insn & 0xfffff000) != 0xd5380000 ||
	    !PSTATE_LEVEL(board_reg(board, ARM64_CPSR)))
		return false;
	if ((insn & 31) != 31)
		board_set_reg(board, ARM64_X0 + (insn & 31), 0);
	board_set_steps(board, board_steps(board) + 1);
	board_set_reg(board, ARM64_PC, pc + INSN_SIZE);
	return true;
}

static void take(struct board *board, const struct engine_exception *exception)
{
	guest_addr pc = board_reg(board, ARM64_PC);

	if (exception->kind == EXCEPTION_UNDEFINED &&
	    read_unknown_id(board, pc))
		return;
	board_set_reg(board, ARM64_ESR, exception->syndrome);
	if (exception->kind == EXCEPTION_FETCH ||
	    exception->kind == EXCEPTION_DATA)
		board_set_reg(board, ARM64_FAR, exception->address);
	enter(board, pc, 0);
}

void exceptions_take(void *context, const struct engine_exception *exception)
{
	struct board *board = context;

	board_count_exception(board, exception);
	switch (exception->kind) {
	case EXCEPTION_HVC:
	case EXCEPTION_SMC:
		board_stop(board, STOPPED_BY_CALL);
		break;
	case EXCEPTION_UNDEFINED:
	case EXCEPTION_SVC:
	case EXCEPTION_FETCH:
	case EXCEPTION_DATA:
	case EXCEPTION_BRK:
		take(board, exception);
		break;
	default:
		board->unknown = exception->kind;
		board_stop(board, STOPPED_BY_UNKNOWN);
	}
}

bool exceptions_interrupt(struct board *board, guest_addr pc, unsigned number)
{
	(void)number;
	if (board_reg(board, ARM64_CPSR) & PSTATE_MASKS_IRQ)
		return false;
	enter(board, pc, VECTOR_IRQ);
	return true;
}
