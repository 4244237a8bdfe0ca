/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exceptions.c - the processor enters an exception
 *
 * Source: Arm Architecture Reference Manual, D1.3 (exception entry), D1.4.1
 * (vectors), D19.2.37 (ESR_EL1).
 */
#include "vm/board/board_internal.h"

#include <stdio.h>
#include <string.h>

#include "formats/processor.h"

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

	if (!PSTATE_LEVEL(pstate)) {
		board_present(board)->left_programs++;
		board_present(board)->left_at = board_steps(board);
		arm64_note_space(board);
	}
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

/*
 * A kernel's own instruction that faults so often in a row, without an interrupt
 * between, and with so little done, is one of what handles faults: it will
 * fault for ever.
 */
#define LOOP_FAULTS 10000u
#define LOOP_STEPS UINT64_C(2000000)

static void begin_loop(struct fault_loop *loop, guest_addr pc,
		       uint64_t syndrome, uint64_t now)
{
	loop->pc = pc;
	loop->syndrome = syndrome;
	loop->start = now;
	loop->count = 0;
}

static bool loops(struct board *board, const struct engine_exception *exception,
		  guest_addr pc)
{
	struct fault_loop *loop = &board_present(board)->fault_loop;
	uint64_t now = board_steps(board);

	if (!PSTATE_LEVEL(board_reg(board, ARM64_CPSR))) {
		loop->count = 0;
		return false;
	}
	if (!loop->count || loop->pc != pc ||
	    loop->syndrome != exception->syndrome ||
	    now - loop->start > LOOP_STEPS)
		begin_loop(loop, pc, exception->syndrome, now);
	return ++loop->count == LOOP_FAULTS;
}

static bool is_of_address(const struct engine_exception *exception)
{
	return exception->kind == EXCEPTION_FETCH ||
	       exception->kind == EXCEPTION_DATA;
}

/* Where its handler begins, and whether anything is there. */
static guest_addr handler(const struct board *board)
{
	return board_reg(board, ARM64_VBAR) +
	       vector(board_reg(board, ARM64_CPSR));
}

static bool has_handler(const struct board *board)
{
	uint64_t addr;

	return board_translate(board, handler(board), &addr) &&
	       board_bytes(board, addr, INSN_SIZE);
}

/* What an entry changes. */
static const uint8_t entered[FAULT_REGISTERS] = {
	ARM64_PC, ARM64_SP, ARM64_CPSR, ARM64_ELR, ARM64_SPSR, ARM64_ESR,
	ARM64_FAR, ARM64_SP_EL0, ARM64_SP_EL1,
};

/* Before the first of all faults between two instructions that retire. */
static void keep_registers(struct board *board)
{
	struct fault_loop *loop = &board_present(board)->fault_loop;
	uint64_t now = board_steps(board);

	if (loop->has_before && loop->at == now)
		return;
	loop->has_before = true;
	loop->at = now;
	for (unsigned i = 0; i < FAULT_REGISTERS; i++)
		loop->before[i] = board_reg(board, entered[i]);
}

/* It stands before the instruction that began it: so does a replay. */
void exceptions_locked(struct board *board)
{
	const struct reg_table *table = reg_table(board->kind->arch);
	struct fault_loop *loop = &board_present(board)->fault_loop;
	struct reg_file regs;

	board_registers(board, &regs);
	for (unsigned i = 0; i < FAULT_REGISTERS; i++)
		reg_set(table, &regs, entered[i], loop->before[i]);
	board_set_registers(board, &regs);
	loop->has_before = false;
}

static void lock_up(struct board *board,
		    const struct engine_exception *exception)
{
	char of[32] = "", at[32] = "";

	if (is_of_address(exception))
		snprintf(of, sizeof(of), " of 0x%llx",
			 (unsigned long long)exception->address);
	if (!has_handler(board))
		snprintf(at, sizeof(at), " 0x%llx",
			 (unsigned long long)handler(board));
	snprintf(board->fault, sizeof(board->fault), "%s%s%s%s",
		 is_of_address(exception) ? "a fault" :
					    "an undefined instruction", of,
		 *at ? ", and no memory where its handler would be," :
		       ", again and again in the handler of faults", at);
	board_present(board)->fault_loop.count = 0;
	board_stop(board, STOPPED_LOCKED);
}

static void take(struct board *board, const struct engine_exception *exception)
{
	guest_addr pc = board_reg(board, ARM64_PC);

	if (exception->kind == EXCEPTION_UNDEFINED &&
	    read_unknown_id(board, pc))
		return;
	keep_registers(board);
	if (exception->kind != EXCEPTION_SVC &&
	    (!has_handler(board) ||
	     (exception->kind != EXCEPTION_BRK &&
	      loops(board, exception, pc)))) {
		lock_up(board, exception);
		return;
	}
	board_set_reg(board, ARM64_ESR, exception->syndrome);
	if (is_of_address(exception))
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

/* ESR_EL1: an instruction abort, from a program or the kernel; external. */
#define ABORT_PROGRAM UINT32_C(0x82000010)
#define ABORT_KERNEL UINT32_C(0x86000010)

void exceptions_unfetched(struct board *board, guest_addr pc)
{
	const struct engine_exception exception = {
		.kind = EXCEPTION_FETCH,
		.syndrome = PSTATE_LEVEL(board_reg(board, ARM64_CPSR)) ?
				    ABORT_KERNEL : ABORT_PROGRAM,
		.address = pc,
	};

	board->aborted_at = board_steps(board);
	take(board, &exception);
}

#define MISALIGNED_PC UINT32_C(0x8a000000)

bool exceptions_enter(struct board *board, const struct engine_block *block)
{
	const struct engine_exception exception = {
		.kind = EXCEPTION_FETCH,
		.syndrome = MISALIGNED_PC,
		.address = block->pc,
	};

	if (!(block->pc % INSN_SIZE) || board->behaviour < BEHAVIOUR_CHECKS)
		return true;
	board_leave_block(board, block->pc);
	board->aborted_at = board_steps(board);
	board_set_reg(board, ARM64_PC, block->pc);
	take(board, &exception);
	return false;
}

bool exceptions_interrupt(struct board *board, guest_addr pc, unsigned number)
{
	(void)number;
	if (board_reg(board, ARM64_CPSR) & PSTATE_MASKS_IRQ)
		return false;
	board_present(board)->fault_loop.count = 0;
	enter(board, pc, VECTOR_IRQ);
	return true;
}
