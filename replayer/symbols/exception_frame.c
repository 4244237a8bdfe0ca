/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exception_frame.c - see exception_frame.h
 *
 * Source: ARMv7-M Architecture Reference Manual, B1.5.6 to B1.5.8.
 */
#include "replayer/symbols/exception_frame.h"

#include "replayer/symbols/cfi.h"

/* EXC_RETURN: the bits that are the same in all; those that say something. */
#define RETURN_MASK 0xffffffe0u
#define RETURN_IS_PROCESS 4u	/* the stack is that of PSP */
#define RETURN_IS_SHORT 16u	/* without floating point */

/* Where registers are: r0 to r3, r12, LR, PC, xPSR. */
static const unsigned kept[] = { 0, 1, 2, 3, 12, 14 };
#define KEPT_PC 24u
#define KEPT_STATE 28u
#define STATE_ALIGNED 0x200u	/* four bytes were left out */
#define SIZE 0x20u
#define SIZE_FLOAT 0x68u

static bool number(const struct guest_reader *memory, uint64_t addr,
		   uint64_t *out)
{
	return guest_read_number(memory, addr, 4, out);
}

bool exception_frame_is(uint64_t back)
{
	return (back & RETURN_MASK) == RETURN_MASK &&
	       back != EXCEPTION_NO_CALLER;
}

uint64_t exception_frame_at(uint64_t back, uint64_t sp, uint64_t process_sp)
{
	return back & RETURN_IS_PROCESS ? process_sp : sp;
}

unsigned exception_frame_size(const struct guest_reader *memory, uint64_t back,
			      uint64_t at, uint64_t *pc)
{
	uint64_t status;

	if (!number(memory, at + KEPT_PC, pc) ||
	    !number(memory, at + KEPT_STATE, &status))
		return 0;
	return (back & RETURN_IS_SHORT ? SIZE : SIZE_FLOAT) +
	       (status & STATE_ALIGNED ? 4 : 0);
}

bool exception_frame_unwind(const struct guest_reader *memory,
			    uint64_t process_sp, struct unwind_state *state)
{
	struct dwarf_registers *registers = &state->registers;
	uint64_t pc, at = exception_frame_at(state->pc,
					     registers->value[state->sp],
					     process_sp);
	unsigned size = exception_frame_is(state->pc) ?
			exception_frame_size(memory, state->pc, at, &pc) : 0;

	if (!size)
		return false;
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		registers->known[kept[i]] =
			number(memory, at + 4 * i, &registers->value[kept[i]]);
	registers->value[state->sp] = at + size;
	registers->known[state->sp] = true;
	state->pc = pc;
	return true;
}
