/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * float.c - instructions that show or change flags of exceptions
 *
 * The engine knows nothing of them (see mxcsr.c), so it calls a hook
 * before each: the registers are brought up to date, and the units' flags to
 * what the instruction will make of the registers.
 *
 * There is one hook on instructions, which lies where plan.c wants it for the
 * block that is translated next.  Moving it means to write into the engine's
 * own structure: to remove a hook would remove what was translated with it, and
 * many hooks make translating slow.
 *
 * Source: Intel 64 SDM volume 1, 8.1.10, 8.3.11, 10.5.1; volume 2, FLDENV.
 */
#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/x86.h"
#include <string.h>


#define MXCSR_ALL_MASKED 0x1f80u
#define MXCSR_FZ 0x8000u
#define MXCSR_RESERVED 0xffff0000u
#define CONTROL_ALL_MASKED 0x37f
#define FXSAVE_MXCSR 24

bool float_wants_hook(const struct cpu *cpu, const struct x86_parts *insn)
{
	switch (insn->class.kind) {
	case FLOAT_OTHER:
		return false;
	case FLOAT_SSE:
	case FLOAT_X87:
		return x86_of(cpu)->traps;
	default:
		return true;
	}
}

/* ------- what happens before such an instruction ------- */

/* Reads `size` bytes, `at` bytes into the operand; false if it will fault. */
static bool load_field(struct cpu *cpu, const struct x86_code *code,
		       unsigned at, void *bytes, size_t size)
{
	struct operand_form form;
	guest_addr addr;

	if (!insn_operand(&code->insn, &form))
		return false;
	addr = x86_address(cpu, &form, code->pc + code->insn.size);
	return !memory_load(cpu->memory, addr + at, bytes, size);
}

/* Where the status word is in what FLDENV, FRSTOR and FXRSTOR load. */
static unsigned status_field(const struct x86_parts *insn)
{
	return insn->class.kind == FLOAT_LOADS_ALL || insn->has_66 ? 2 : 4;
}

/* The units' flags become those that the registers are about to have. */
static void load_flags(struct cpu *cpu, const struct x86_code *code)
{
	uint16_t status;
	uint32_t mxcsr = 0;

	if (!load_field(cpu, code, status_field(&code->insn), &status,
			sizeof(status)) ||
	    (code->insn.class.kind == FLOAT_LOADS_ALL &&
	     !load_field(cpu, code, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))))
		return;
	*engine_x86(cpu->engine)->x87.raised =
		(uint8_t)(status & FLOAT_UNIT_FLAGS);
	if (code->insn.class.kind != FLOAT_LOADS_ALL)
		return;
	*engine_x86(cpu->engine)->sse.raised =
		(uint8_t)(mxcsr & FLOAT_UNIT_FLAGS);
	*engine_x86(cpu->engine)->sse.flush = mxcsr & MXCSR_FZ ? 1 : 0;
}

static enum before faults(struct vm_stop *stop, enum vm_fault_kind fault,
			  unsigned detail)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = fault;
	stop->detail = detail;
	return BEFORE_FAULTS;
}

/* An exception is about to be unmasked: all code is to be watched. */
static enum before unmask(struct cpu *cpu)
{
	float_watch_math(cpu);
	return BEFORE_REPLANS;
}

static enum before look_at_masks(struct cpu *cpu, const struct x86_code *code)
{
	uint16_t control;
	uint32_t mxcsr = MXCSR_ALL_MASKED;

	if (x86_of(cpu)->traps ||
	    !load_field(cpu, code, 0, &control, sizeof(control)) ||
	    (code->insn.class.kind == FLOAT_LOADS_ALL &&
	     !load_field(cpu, code, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))) ||
	    !trap_unmasks(mxcsr, control))
		return BEFORE_RUNS;
	return unmask(cpu);
}

/* MXCSR is about to be loaded: not every value can be, and not unseen. */
static enum before look_at_mxcsr(struct cpu *cpu, const struct x86_code *code,
				 struct vm_stop *stop)
{
	uint32_t mxcsr;

	if (!load_field(cpu, code, 0, &mxcsr, sizeof(mxcsr)))
		return BEFORE_RUNS;
	if (mxcsr & MXCSR_RESERVED)
		return faults(stop, FAULT_PRIVILEGE, 0);
	if (!x86_of(cpu)->traps && trap_unmasks(mxcsr, CONTROL_ALL_MASKED))
		return unmask(cpu);
	return BEFORE_RUNS;
}

/* Whether the instruction raises an exception that is unmasked. */
static enum before look_for_trap(struct cpu *cpu, const struct x86_code *code,
				 struct vm_stop *stop)
{
	if (!x86_of(cpu)->traps)
		return BEFORE_RUNS;
	if (code->insn.class.kind != FLOAT_X87)
		return trap_sse(cpu, code) ?
			       faults(stop, FAULT_FLOAT, X86_FAULT_SSE) :
			       BEFORE_RUNS;
	if (trap_is_pending(cpu))
		return faults(stop, FAULT_FLOAT, X86_FAULT_X87);
	if (trap_unmasks(MXCSR_ALL_MASKED,
			 (uint16_t)x86_read_reg(cpu, X86_FPCW)) &&
	    trap_x87(cpu, code))
		return BEFORE_PERFORMS;
	return BEFORE_RUNS;
}

/* Leaves the call out where it would do nothing. */
static void leave_out(struct cpu *cpu, const struct x86_parts *insn,
		      const struct engine_call *call)
{
	struct demand operand;
	struct operand_form form;

	if (insn->class.kind != FLOAT_OTHER && insn->class.kind != FLOAT_SSE)
		return;
	if (!insn->class.is_aligned) {
		engine_leave_out(cpu->engine, call, NULL);
		return;
	}
	if (!insn_operand(insn, &form) || form.segment ||
	    form.base == OPERAND_NEXT)
		return;
	operand = (struct demand){
		.base = form.base, .index = form.index, .shift = form.shift,
		.offset = (uint8_t)(form.displacement & 15),
	};
	engine_leave_out(cpu->engine, call, &operand);
}

/* What the instruction is about to do with registers that show flags. */
static enum before touch_flags(struct cpu *cpu, const struct x86_code *code,
			       struct vm_stop *stop)
{
	const enum float_kind kind = code->insn.class.kind;
	bool traps = x86_of(cpu)->traps;
	enum before before;

	switch (kind) {
	case FLOAT_OTHER:
		return BEFORE_RUNS;
	case FLOAT_SHOWS_SSE:
		x86_show_sse(cpu);
		return BEFORE_RUNS;
	case FLOAT_SHOWS:
		x86_show_flags(cpu);
		return BEFORE_RUNS;
	case FLOAT_CLEARS:
		x86_show_flags(cpu);
		*engine_x86(cpu->engine)->x87.raised = 0;
		return BEFORE_RUNS;
	case FLOAT_CONTROLS:
		if (traps && trap_is_pending(cpu))
			return faults(stop, FAULT_FLOAT, X86_FAULT_X87);
		return look_at_masks(cpu, code);
	case FLOAT_LOADS_SSE:
		return look_at_mxcsr(cpu, code, stop);
	case FLOAT_LOADS:
	case FLOAT_LOADS_ALL:
		if (kind == FLOAT_LOADS && traps && trap_is_pending(cpu))
			return faults(stop, FAULT_FLOAT, X86_FAULT_X87);
		before = look_at_masks(cpu, code);
		if (before == BEFORE_RUNS)
			load_flags(cpu, code);
		return before;
	default:
		return look_for_trap(cpu, code, stop);
	}
}

enum before x86_before(struct cpu *cpu, const struct engine_call *call,
		       struct vm_stop *stop)
{
	struct x86_code code;

	x86_fetch(cpu, call->pc, &code);
	if (!align_is_met(cpu, &code))
		return faults(stop, FAULT_PRIVILEGE, 0);
	if (!x86_of(cpu)->traps)
		leave_out(cpu, &code.insn, call);
	return touch_flags(cpu, &code, stop);
}

void float_watch_math(struct cpu *cpu)
{
	if (x86_of(cpu)->traps)
		return;
	x86_of(cpu)->traps = true;
	cpu->must_replan = true;
}
