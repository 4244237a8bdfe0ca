/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cfi.c - see cfi.h */
#include "replayer/symbols/cfi.h"

#include <dwarf.h>
#include <stdlib.h>

struct unwinding {
	Dwarf_Frame *frame;
	struct dwarf_registers registers;	/* of the callee */
	struct dwarf_machine machine;
};

static bool find_cfa(struct unwinding *unwinding)
{
	struct dwarf_result result;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(unwinding->frame, &ops, &count) || !count ||
	    !dwarf_eval(&unwinding->machine, ops, count, &result))
		return false;
	unwinding->machine.cfa = result.value;
	unwinding->machine.has_cfa = true;
	return true;
}

enum rule { RULE_VALUE, RULE_SAME, RULE_UNDEFINED, RULE_BAD };

/* What a register was in the caller. */
static enum rule find_register(struct unwinding *unwinding, unsigned reg,
			       uint64_t *out)
{
	const struct dwarf_machine *machine = &unwinding->machine;
	struct dwarf_result result;
	Dwarf_Op mem[3], *ops;
	size_t count;

	if (dwarf_frame_register(unwinding->frame, (int)reg, mem, &ops,
				 &count))
		return RULE_BAD;
	/*
	 * This is how libdw tells the two rules without operations.  It says
	 * UNDEFINED also of a register that the tables say nothing of.
	 */
	if (!count)
		return ops ? RULE_UNDEFINED : RULE_SAME;
	if (!dwarf_eval(machine, ops, count, &result))
		return RULE_BAD;
	*out = result.value;
	if (result.is_address &&
	    !guest_read_word(machine->memory, result.value, out))
		return RULE_BAD;
	return RULE_VALUE;
}

static void find_registers(struct unwinding *unwinding,
			   const struct unwind_state *callee,
			   struct unwind_state *caller)
{
	for (unsigned i = 0; i < callee->count; i++) {
		bool *known = &caller->registers.known[i];
		uint64_t *value = &caller->registers.value[i];

		switch (find_register(unwinding, i, value)) {
		case RULE_VALUE:
			*known = true;
			break;
		/* libdw says SAME of rax, too, of which tables say nothing. */
		case RULE_UNDEFINED:
		case RULE_SAME:
			*value = callee->registers.value[i];
			*known = callee->registers.known[i] &&
				 callee->kept >> i & 1;
			break;
		case RULE_BAD:
			*known = false;
		}
	}
	/* That is what the canonical frame address is. */
	if (!caller->registers.known[callee->sp]) {
		caller->registers.value[callee->sp] = unwinding->machine.cfa;
		caller->registers.known[callee->sp] = true;
	}
}

static enum unwind_result find_pc(struct unwinding *unwinding, unsigned reg,
				  const struct unwind_state *callee,
				  uint64_t *pc)
{
	switch (find_register(unwinding, reg, pc)) {
	case RULE_VALUE:
		return UNWIND_DONE;
	case RULE_SAME:		/* it is still in its register */
		if (reg >= callee->count || !callee->registers.known[reg])
			return UNWIND_UNKNOWN;
		*pc = callee->registers.value[reg];
		return UNWIND_DONE;
	case RULE_UNDEFINED:
		return UNWIND_OUTERMOST;
	case RULE_BAD:
		break;
	}
	return UNWIND_UNKNOWN;
}

static enum unwind_result unwind(struct unwinding *unwinding,
				 struct unwind_state *state, bool *is_signal)
{
	struct unwind_state callee = *state;
	int reg = dwarf_frame_info(unwinding->frame, NULL, NULL, is_signal);
	enum unwind_result result;

	if (reg < 0)
		return UNWIND_UNKNOWN;
	/* Where it is depends on which instruction that is, in tables of jumps
	 * to libraries. */
	if (reg < (int)DWARF_REGISTERS_MOST) {
		unwinding->registers.value[reg] = callee.pc;
		unwinding->registers.known[reg] = true;
	}
	if (!find_cfa(unwinding))
		return UNWIND_UNKNOWN;
	result = find_pc(unwinding, (unsigned)reg, &callee, &state->pc);
	if (result == UNWIND_DONE)
		find_registers(unwinding, &callee, state);
	return result;
}

/* Where a register is saved, from the canonical frame address on. */
static bool find_saved(Dwarf_Frame *frame, unsigned reg, uint64_t *out)
{
	Dwarf_Op mem[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)reg, mem, &ops, &count) ||
	    count != 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    ops[1].atom != DW_OP_plus_uconst)
		return false;
	*out = ops[1].number;
	return true;
}

/* Where that address is, from the stack pointer on. */
static bool find_size(Dwarf_Frame *frame, unsigned sp, uint64_t *out)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || count != 1 ||
	    ops[0].atom != DW_OP_bregx || ops[0].number != sp)
		return false;
	*out = ops[0].number2;
	return true;
}

bool cfi_stack_pointer(Dwarf_CFI *cfi, uint64_t bias, uint64_t addr,
		       unsigned fp, const struct unwind_state *state,
		       uint64_t *out)
{
	Dwarf_Frame *frame;
	uint64_t saved, size;
	bool is_known;

	if (!cfi || fp >= state->count || !state->registers.known[fp] ||
	    dwarf_cfi_addrframe(cfi, addr - bias, &frame))
		return false;
	is_known = find_saved(frame, fp, &saved) &&
		   find_size(frame, state->sp, &size);
	free(frame);
	if (is_known)
		*out = state->registers.value[fp] - saved - size;
	return is_known;
}

enum unwind_result cfi_unwind(Dwarf_CFI *cfi, uint64_t bias, uint64_t addr,
			      const struct guest_reader *memory,
			      struct unwind_state *state, bool *is_signal)
{
	struct unwinding unwinding = {
		.registers = state->registers,
		.machine = {
			.registers = &unwinding.registers,
			.memory = memory,
			.bias = bias,
		},
	};
	enum unwind_result result;

	*is_signal = false;
	if (!cfi || dwarf_cfi_addrframe(cfi, addr - bias, &unwinding.frame))
		return UNWIND_UNKNOWN;
	result = unwind(&unwinding, state, is_signal);
	free(unwinding.frame);
	return result;
}
