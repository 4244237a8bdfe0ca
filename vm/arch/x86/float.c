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
#include "vm/arch/x86/x86.h"
#include <string.h>


#define MXCSR_ALL_MASKED 0x1f80u
#define MXCSR_FZ 0x8000u
#define MXCSR_RESERVED 0xffff0000u
#define CONTROL_ALL_MASKED 0x37f
#define FXSAVE_MXCSR 24

enum float_kind {
	FLOAT_OTHER,
	FLOAT_SHOWS_SSE,	/* STMXCSR */
	FLOAT_SHOWS,		/* FXSAVE, FNSTSW, FNSTENV */
	FLOAT_CLEARS,		/* FNCLEX, FNINIT, FNSAVE */
	FLOAT_CONTROLS,		/* FLDCW */
	FLOAT_LOADS_SSE,	/* LDMXCSR */
	FLOAT_LOADS,		/* FLDENV, FRSTOR */
	FLOAT_LOADS_ALL,	/* FXRSTOR */
	FLOAT_SSE,		/* any other that may raise one */
	FLOAT_X87,		/* the same, and whatever else looks for some */
};

static enum float_kind kind_of_x87(const uint8_t *opcode, const uint8_t *end)
{
	unsigned reg;

	if (end - opcode < 2)
		return FLOAT_OTHER;
	reg = opcode[1] >> 3 & 7;
	if (opcode[1] >= 0xc0) {
		if (opcode[0] == 0xdf && opcode[1] == 0xe0)
			return FLOAT_SHOWS;	/* FNSTSW AX */
		if (opcode[0] == 0xdb && (opcode[1] == 0xe2 || opcode[1] == 0xe3))
			return FLOAT_CLEARS;	/* FNCLEX, FNINIT */
		return FLOAT_X87;
	}
	if (opcode[0] == 0xd9 && reg >= 4)
		return reg == 4 ? FLOAT_LOADS : reg == 5 ? FLOAT_CONTROLS :
		       reg == 6 ? FLOAT_SHOWS : FLOAT_OTHER;
	if (opcode[0] == 0xdd && (reg == 4 || reg >= 6))
		return reg == 4 ? FLOAT_LOADS : reg == 6 ? FLOAT_CLEARS :
							   FLOAT_SHOWS;
	return FLOAT_X87;
}

/* SSE to SSE4.1 that compute with floating point: the byte behind 0F. */
static bool is_sse_math(const uint8_t *opcode, const uint8_t *end)
{
	uint8_t byte = opcode[1];

	if (byte == 0x3a)
		return end - opcode >= 5 &&
		       ((opcode[2] >= 0x08 && opcode[2] <= 0x0b) ||
			opcode[2] == 0x40 || opcode[2] == 0x41);
	return byte == 0x51 || (byte >= 0x58 && byte <= 0x5f) ||
	       byte == 0x2a || (byte >= 0x2c && byte <= 0x2f) ||
	       byte == 0xc2 || byte == 0xe6 || byte == 0xd0 || byte == 0x7c ||
	       byte == 0x7d;
}

#define FWAIT 0x9b

static enum float_kind kind_of(const uint8_t *opcode, const uint8_t *end)
{
	if (end - opcode == 1 && *opcode == FWAIT)
		return FLOAT_X87;
	if (end - opcode < 2)
		return FLOAT_OTHER;
	if ((*opcode & 0xf8) == 0xd8)
		return kind_of_x87(opcode, end);
	if (opcode[0] != 0x0f || end - opcode < 3)
		return FLOAT_OTHER;
	if (opcode[1] != 0xae || opcode[2] >= 0xc0)
		return is_sse_math(opcode, end) ? FLOAT_SSE : FLOAT_OTHER;
	switch (opcode[2] >> 3 & 7) {
	case 0:
		return FLOAT_SHOWS;
	case 3:
		return FLOAT_SHOWS_SSE;
	case 1:
		return FLOAT_LOADS_ALL;
	case 2:
		return FLOAT_LOADS_SSE;
	default:
		return FLOAT_OTHER;
	}
}

bool float_wants_hook(const struct cpu *cpu, const uint8_t *opcode,
		      const uint8_t *end)
{
	switch (kind_of(opcode, end)) {
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

struct insn_parts {
	guest_addr pc;
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode, *end;
};

/* Reads `size` bytes, `at` bytes into the operand; false if it will fault. */
static bool load_field(struct cpu *cpu, const struct insn_parts *insn, unsigned at,
		       void *bytes, size_t size)
{
	struct operand_form form;
	guest_addr addr;

	if (!operand_decode(insn->code, insn->opcode, insn->end, &form))
		return false;
	addr = operand_at(cpu, &form,
			  insn->pc + (size_t)(insn->end - insn->code));
	return !memory_load(cpu->memory, addr + at, bytes, size);
}

/* Where the status word is in what FLDENV, FRSTOR and FXRSTOR load. */
static unsigned status_field(const struct insn_parts *insn, enum float_kind kind)
{
	bool is_short = memchr(insn->code, 0x66,
			       (size_t)(insn->opcode - insn->code));

	return kind == FLOAT_LOADS_ALL || is_short ? 2 : 4;
}

/* The units' flags become those that the registers are about to have. */
static void load_flags(struct cpu *cpu, const struct insn_parts *insn,
		       enum float_kind kind)
{
	uint16_t status;
	uint32_t mxcsr = 0;

	if (!load_field(cpu, insn, status_field(insn, kind), &status,
			sizeof(status)) ||
	    (kind == FLOAT_LOADS_ALL &&
	     !load_field(cpu, insn, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))))
		return;
	*engine_x86(cpu->engine)->x87.raised = (uint8_t)(status & FLOAT_UNIT_FLAGS);
	if (kind != FLOAT_LOADS_ALL)
		return;
	*engine_x86(cpu->engine)->sse.raised = (uint8_t)(mxcsr & FLOAT_UNIT_FLAGS);
	*engine_x86(cpu->engine)->sse.flush = mxcsr & MXCSR_FZ ? 1 : 0;
}

static enum before faults(struct vm_stop *stop, enum vm_fault_kind fault)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = fault;
	return BEFORE_FAULTS;
}

/* An exception is about to be unmasked: all code is to be watched. */
static enum before unmask(struct cpu *cpu)
{
	float_watch_math(cpu);
	return BEFORE_REPLANS;
}

static enum before look_at_masks(struct cpu *cpu, const struct insn_parts *insn,
				 enum float_kind kind)
{
	uint16_t control;
	uint32_t mxcsr = MXCSR_ALL_MASKED;

	if (x86_of(cpu)->traps ||
	    !load_field(cpu, insn, 0, &control, sizeof(control)) ||
	    (kind == FLOAT_LOADS_ALL &&
	     !load_field(cpu, insn, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))) ||
	    !trap_unmasks(mxcsr, control))
		return BEFORE_RUNS;
	return unmask(cpu);
}

/* MXCSR is about to be loaded: not every value can be, and not unseen. */
static enum before look_at_mxcsr(struct cpu *cpu, const struct insn_parts *insn,
				 struct vm_stop *stop)
{
	uint32_t mxcsr;

	if (!load_field(cpu, insn, 0, &mxcsr, sizeof(mxcsr)))
		return BEFORE_RUNS;
	if (mxcsr & MXCSR_RESERVED)
		return faults(stop, FAULT_PRIVILEGE);
	if (!x86_of(cpu)->traps && trap_unmasks(mxcsr, CONTROL_ALL_MASKED))
		return unmask(cpu);
	return BEFORE_RUNS;
}

/* Whether the instruction raises an exception that is unmasked. */
static enum before look_for_trap(struct cpu *cpu, const struct insn_parts *insn,
				 enum float_kind kind, struct vm_stop *stop)
{
	if (!x86_of(cpu)->traps)
		return BEFORE_RUNS;
	if (kind != FLOAT_X87)
		return trap_sse(cpu, insn->pc, insn->code, insn->opcode,
				insn->end) ?
			       faults(stop, FAULT_FLOAT_SSE) : BEFORE_RUNS;
	if (trap_is_pending(cpu))
		return faults(stop, FAULT_FLOAT_X87);
	if (trap_unmasks(MXCSR_ALL_MASKED, (uint16_t)x86_read_reg(cpu, X86_FPCW)) &&
	    trap_x87(cpu, insn->pc, insn->code, insn->opcode, insn->end))
		return BEFORE_PERFORMS;
	return BEFORE_RUNS;
}

/* Leaves the call out where it would do nothing. */
static void leave_out(struct cpu *cpu, const struct insn_parts *insn,
		      enum float_kind kind, const struct engine_call *call)
{
	struct demand operand;
	struct operand_form form;

	if (kind != FLOAT_OTHER && kind != FLOAT_SSE)
		return;
	if (!align_wants(insn->code, insn->opcode, insn->end)) {
		engine_leave_out(cpu->engine, call, NULL);
		return;
	}
	if (!operand_decode(insn->code, insn->opcode, insn->end, &form) ||
	    form.segment || form.base == OPERAND_NEXT)
		return;
	operand = (struct demand){
		.base = form.base, .index = form.index, .shift = form.shift,
		.offset = (uint8_t)(form.displacement & 15),
	};
	engine_leave_out(cpu->engine, call, &operand);
}

/* What the instruction is about to do with registers that show flags. */
static enum before touch_flags(struct cpu *cpu, const struct insn_parts *insn,
			       enum float_kind kind, struct vm_stop *stop)
{
	const struct engine_x86 *x86 = engine_x86(cpu->engine);
	bool traps = x86_of(cpu)->traps;
	enum before before;

	switch (kind) {
	case FLOAT_SHOWS_SSE:
		x86_show_sse(cpu);
		return BEFORE_RUNS;
	case FLOAT_SHOWS:
		x86_show_flags(cpu);
		return BEFORE_RUNS;
	case FLOAT_CLEARS:
		x86_show_flags(cpu);
		*x86->x87.raised = 0;
		return BEFORE_RUNS;
	case FLOAT_CONTROLS:
		if (traps && trap_is_pending(cpu))
			return faults(stop, FAULT_FLOAT_X87);
		return look_at_masks(cpu, insn, kind);
	case FLOAT_LOADS_SSE:
		return look_at_mxcsr(cpu, insn, stop);
	case FLOAT_LOADS:
	case FLOAT_LOADS_ALL:
		if (kind == FLOAT_LOADS && traps && trap_is_pending(cpu))
			return faults(stop, FAULT_FLOAT_X87);
		before = look_at_masks(cpu, insn, kind);
		if (before == BEFORE_RUNS)
			load_flags(cpu, insn, kind);
		return before;
	default:
		return look_for_trap(cpu, insn, kind, stop);
	}
}

enum before x86_before(struct cpu *cpu, const struct engine_call *call,
		       struct vm_stop *stop)
{
	struct insn_parts insn = { .pc = call->pc };
	enum float_kind kind;

	insn.end = insn.code + x86_fetch(cpu, call->pc, insn.code,
					 &insn.opcode);
	if (insn.end > insn.code + call->size)
		insn.end = insn.code + call->size;
	if (align_wants(insn.code, insn.opcode, insn.end) &&
	    !align_is_met(cpu, call->pc, insn.code, insn.opcode, insn.end))
		return faults(stop, FAULT_PRIVILEGE);
	kind = kind_of(insn.opcode, insn.end);
	if (!x86_of(cpu)->traps)
		leave_out(cpu, &insn, kind, call);
	return kind == FLOAT_OTHER ? BEFORE_RUNS :
				     touch_flags(cpu, &insn, kind, stop);
}

void float_watch_math(struct cpu *cpu)
{
	if (x86_of(cpu)->traps)
		return;
	x86_of(cpu)->traps = true;
	cpu->must_replan = true;
}
