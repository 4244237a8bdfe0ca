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
#include "vm/processor/plan.h"
#include <string.h>

#include "vm/arch/x86/length.h"

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

bool float_wants_hook(const struct vm *vm, const uint8_t *opcode,
		      const uint8_t *end)
{
	switch (kind_of(opcode, end)) {
	case FLOAT_OTHER:
		return false;
	case FLOAT_SSE:
	case FLOAT_X87:
		return vm->traps;
	default:
		return true;
	}
}

/* ------- what happens before such an instruction ------- */

struct insn {
	guest_addr pc;
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode, *end;
};

/* Reads `size` bytes, `at` bytes into the operand; false if it will fault. */
static bool load_field(struct vm *vm, const struct insn *insn, unsigned at,
		       void *bytes, size_t size)
{
	struct operand_form form;
	guest_addr addr;

	if (!operand_decode(insn->code, insn->opcode, insn->end, &form))
		return false;
	addr = operand_at(vm, &form,
			  insn->pc + (size_t)(insn->end - insn->code));
	return !memory_load(vm->memory, addr + at, bytes, size);
}

/* Where the status word is in what FLDENV, FRSTOR and FXRSTOR load. */
static unsigned status_field(const struct insn *insn, enum float_kind kind)
{
	bool is_short = memchr(insn->code, 0x66,
			       (size_t)(insn->opcode - insn->code));

	return kind == FLOAT_LOADS_ALL || is_short ? 2 : 4;
}

/* The units' flags become those that the registers are about to have. */
static void load_flags(struct vm *vm, const struct insn *insn,
		       enum float_kind kind)
{
	uint16_t status;
	uint32_t mxcsr = 0;

	if (!load_field(vm, insn, status_field(insn, kind), &status,
			sizeof(status)) ||
	    (kind == FLOAT_LOADS_ALL &&
	     !load_field(vm, insn, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))))
		return;
	*vm->x87.raised = (uint8_t)(status & FLOAT_UNIT_FLAGS);
	if (kind != FLOAT_LOADS_ALL)
		return;
	*vm->sse.raised = (uint8_t)(mxcsr & FLOAT_UNIT_FLAGS);
	*vm->sse.flush = mxcsr & MXCSR_FZ ? 1 : 0;
}

static void stop_here(struct vm *vm, enum engine_stop what)
{
	vm->stopped = what;
	uc_emu_stop(vm->uc);
}

/* An exception is about to be unmasked: all code is to be watched. */
static void look_at_masks(struct vm *vm, const struct insn *insn,
			  enum float_kind kind)
{
	uint16_t control;
	uint32_t mxcsr = MXCSR_ALL_MASKED;

	if (vm->traps || !load_field(vm, insn, 0, &control, sizeof(control)) ||
	    (kind == FLOAT_LOADS_ALL &&
	     !load_field(vm, insn, FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr))) ||
	    !trap_unmasks(mxcsr, control))
		return;
	float_watch_math(vm);
	stop_here(vm, ENGINE_UNMASKED);
}

/* MXCSR is about to be loaded: not every value can be, and not unseen. */
static void look_at_mxcsr(struct vm *vm, const struct insn *insn)
{
	uint32_t mxcsr;

	if (!load_field(vm, insn, 0, &mxcsr, sizeof(mxcsr)))
		return;
	if (mxcsr & MXCSR_RESERVED) {
		stop_here(vm, ENGINE_PROTECTED);
	} else if (!vm->traps && trap_unmasks(mxcsr, CONTROL_ALL_MASKED)) {
		float_watch_math(vm);
		stop_here(vm, ENGINE_UNMASKED);
	}
}

/* Whether the instruction raises an exception that is unmasked. */
static void look_for_trap(struct vm *vm, const struct insn *insn,
			  enum float_kind kind)
{
	if (kind != FLOAT_X87) {
		if (trap_sse(vm, insn->pc, insn->code, insn->opcode, insn->end))
			stop_here(vm, ENGINE_FLOAT_SSE);
	} else if (trap_is_pending(vm)) {
		stop_here(vm, ENGINE_FLOAT_X87);
	} else if (trap_unmasks(MXCSR_ALL_MASKED,
				(uint16_t)vm_reg(vm, X86_FPCW)) &&
		   trap_x87(vm, insn->pc, insn->code, insn->opcode,
			    insn->end)) {
		stop_here(vm, ENGINE_FLOAT_RAISED);
	}
}

/* Leaves the call out where it would do nothing; `ret` is where it returns. */
static void leave_out(struct vm *vm, const struct insn *insn,
		      enum float_kind kind, uint8_t *ret)
{
	struct demand operand;
	struct operand_form form;
	bool has_operand = false;

	if (kind != FLOAT_OTHER && kind != FLOAT_SSE)
		return;
	if (align_wants(insn->code, insn->opcode, insn->end)) {
		if (!operand_decode(insn->code, insn->opcode, insn->end,
				    &form) ||
		    form.segment || form.base == OPERAND_NEXT)
			return;
		has_operand = true;
		operand = (struct demand){
			.base = form.base, .index = form.index,
			.shift = form.shift,
			.offset = (uint8_t)(form.displacement & 15),
		};
	}
	inline_hook(vm, ret, insn->pc, (uint32_t)(insn->end - insn->code),
		    has_operand ? &operand : NULL);
}

__attribute__((noinline)) static void on_float(uc_engine *uc, uint64_t pc,
					       uint32_t size, void *user)
{
	uint8_t *ret = __builtin_return_address(0);
	struct vm *vm = user;
	struct insn insn = { .pc = pc };
	enum float_kind kind;

	(void)uc;
	if (vm->trace && !vm->blocks[vm->counter->current].hooked)
		return;
	insn.end = insn.code + block_code(vm, pc, insn.code, &insn.opcode);
	if (insn.end > insn.code + size)
		insn.end = insn.code + size;
	if (align_wants(insn.code, insn.opcode, insn.end) &&
	    !align_is_met(vm, pc, insn.code, insn.opcode, insn.end)) {
		stop_here(vm, ENGINE_PROTECTED);
		return;
	}
	kind = kind_of(insn.opcode, insn.end);
	if (!vm->traps)
		leave_out(vm, &insn, kind, ret);
	switch (kind) {
	case FLOAT_OTHER:
		break;
	case FLOAT_SHOWS_SSE:
		x86_show_sse(vm);
		break;
	case FLOAT_SHOWS:
		x86_show_flags(vm);
		break;
	case FLOAT_CLEARS:
		x86_show_flags(vm);
		*vm->x87.raised = 0;
		break;
	case FLOAT_CONTROLS:
		if (vm->traps && trap_is_pending(vm))
			stop_here(vm, ENGINE_FLOAT_X87);
		else
			look_at_masks(vm, &insn, kind);
		break;
	case FLOAT_LOADS_SSE:
		look_at_mxcsr(vm, &insn);
		break;
	case FLOAT_LOADS:
	case FLOAT_LOADS_ALL:
		if (kind == FLOAT_LOADS && vm->traps && trap_is_pending(vm)) {
			stop_here(vm, ENGINE_FLOAT_X87);
			break;
		}
		look_at_masks(vm, &insn, kind);
		load_flags(vm, &insn, kind);
		break;
	case FLOAT_SSE:
	case FLOAT_X87:
		if (vm->traps)
			look_for_trap(vm, &insn, kind);
	}
}

void float_watch_math(struct vm *vm)
{
	if (vm->traps)
		return;
	vm->traps = true;
	hooks_forget_code(vm);
}

/* ------- the hook ------- */

#define NO_FIRST (NEVER + 1)
#define NO_LAST (NEVER + 2)
#define HOOK_WORDS 8		/* of the engine's structure */

uc_err float_add_hook(struct vm *vm)
{
	uc_hook hook;
	uc_err err = uc_hook_add(vm->uc, &hook, UC_HOOK_CODE,
				 (void *)on_float, vm, NO_FIRST, NO_LAST);
	uint64_t *words = (uint64_t *)hook;

	for (unsigned i = 0; !err && !vm->hooked && i + 1 < HOOK_WORDS; i++)
		if (words[i] == NO_FIRST && words[i + 1] == NO_LAST)
			vm->hooked = &words[i];
	return err;
}

void float_hook(struct vm *vm, guest_addr first, guest_addr last)
{
	if (!vm->hooked)
		return;
	vm->hooked[0] = vm->trace ? 0 : last ? first : NO_FIRST;
	vm->hooked[1] = vm->trace ? NEVER : last ? last : NO_LAST;
}
