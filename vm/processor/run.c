/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - running the engine, and knowing exactly where it stopped */
#include "vm/processor/processor.h"

#include <string.h>

#include "formats/error.h"

/* Whether it stopped before the block vm->stop_block. */
static bool is_before_block(const struct vm *vm)
{
	return vm->stopped == STOPPED_AT_BLOCK ||
	       vm->stopped == STOPPED_MISALIGNED ||
	       vm->stopped == STOPPED_AT_BREAK ||
	       vm->stopped == STOPPED_REPEATING ||
	       vm->stopped == STOPPED_AT_SPECIAL;
}

/* Runs the engine from where the guest stands until it stops by itself. */
static int run_engine(struct vm *vm, guest_addr until, struct vm_stop *stop,
		      struct failure *why)
{
	const unsigned pc = vm->cpu.regs->pc;
	enum engine_exit exit;

	vm->stopped = STOPPED_NOT;
	vm->faulted = false;
	exit = engine_run(vm->engine, vm_reg(vm, pc), until);
	vm->cpu.arch->left(&vm->cpu);
	memset(stop, 0, sizeof(*stop));
	/* With a hook on instructions, the engine does not say so itself. */
	if (is_before_block(vm))
		vm_set_reg(vm, pc, vm->blocks[vm->stop_block].inlined.pc);
	stop->pc = vm_reg(vm, pc);
	if (vm->stopped == STOPPED_BY_EXCEPTION ||
	    vm->stopped == STOPPED_TO_ASK ||
	    (vm->stopped == STOPPED_NOT && vm->faulted))
		accesses_take_back(vm, stop->pc);
	accesses_tell(vm);
	if (vm->stopped != STOPPED_NOT || stop->pc == until)
		return 0;
	if (vm->faulted)
		return 0;
	if (exit == ENGINE_REFUSED) {
		vm->stopped = STOPPED_BY_INVALID;
		return 0;
	}
	return failed(why, ERR_SYSTEM, "the engine stopped at 0x%llx: %s",
		      (unsigned long long)stop->pc, engine_error(vm->engine));
}

/*
 * Runs the first `count` instructions of a block, exactly: "until" is only
 * heeded in translations made for it, so the old ones go before and after.
 */
static int run_part(struct vm *vm, uint32_t number, unsigned count,
		    struct vm_stop *stop, struct failure *why)
{
	struct block block = vm->blocks[number];
	guest_addr until = block_address_of(vm, &block, count);
	int rc;

	engine_drop(vm->engine, block.inlined.pc, block.inlined.size);
	vm->partial = true;
	leave_block(vm, vm_came_from(vm));
	rc = run_engine(vm, until, stop, why);
	vm->partial = false;
	engine_drop(vm->engine, block.inlined.pc, block.inlined.size);
	return rc;
}

/* The engine stopped before a block with a special instruction. */
static int run_to_special(struct vm *vm, struct vm_stop *stop,
			  struct failure *why)
{
	uint32_t number = vm->stop_block;
	unsigned index = vm->blocks[number].special;

	if (index) {
		int rc;

		clock_grant(vm, index);
		rc = run_part(vm, number, index, stop, why);
		clock_settle(vm);
		if (rc || vm->faulted || vm->stopped != STOPPED_NOT)
			return rc;
	}
	vm->stopped = STOPPED_AT_SPECIAL;
	/* The engine does not get to see it. */
	observe_alone(vm, vm->steps, stop->pc);
	if (vm->cpu.arch->explain(&vm->cpu, stop) == PERFORMED) {
		vm_skip(vm, stop);
		vm->emulated = true;
	} else if (stop->kind == VM_STOP_FAULT &&
		   (stop->fault == FAULT_BREAKPOINT ||
		    stop->fault == FAULT_DEBUG)) {
		vm_skip(vm, stop);
		stop->pc += stop->size;
	}
	leave_block(vm, 0);
	return 0;
}

/* Runs one instruction in the engine: its operand turned out to be aligned. */
static int run_single(struct vm *vm, unsigned size, struct vm_stop *stop,
		      struct failure *why)
{
	uint32_t number = block_decode(vm, stop->pc, size);
	int rc;

	if (!number)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	clock_grant(vm, 1);
	rc = run_part(vm, number, 1, stop, why);
	clock_settle(vm);
	vm->emulated = vm->stopped == STOPPED_NOT && !vm->faulted;
	return rc;
}

/*
 * Runs one instruction that asks the TLB.  Behind it the guest stops, if it
 * goes on elsewhere.
 */
static int run_asking(struct vm *vm, struct vm_stop *stop, struct failure *why)
{
	size_t watched = vm->memory->code_pages.count;
	struct cpu_code code;
	int rc;

	cpu_fetch(&vm->cpu, stop->pc, &code);
	stop_in_block(vm, stop->pc);
	vm->asking = true;
	engine_pause_direct(vm->engine, stop->pc);
	rc = run_single(vm, code.insn.size, stop, why);
	engine_pause_direct(vm->engine, ENGINE_NEVER);
	vm->asking = false;
	/* Neither a fault nor a write of code. */
	if (!vm->faulted && vm->memory->code_pages.count >= watched)
		vm->asked++;
	return rc;
}

/* The engine stopped before a block with an operand that is not aligned. */
static int run_to_misaligned(struct vm *vm, struct vm_stop *stop,
			     struct failure *why)
{
	uint32_t number = vm->stop_block;
	unsigned index = block_violation(vm, &vm->blocks[number]);
	unsigned size;
	int rc = 0;

	if (index && index != NO_SPECIAL) {
		clock_grant(vm, index);
		rc = run_part(vm, number, index, stop, why);
		clock_settle(vm);
	}
	if (rc || vm->faulted || (index && vm->stopped != STOPPED_NOT))
		return rc;
	if (vm->cpu.arch->is_aligned(&vm->cpu, stop->pc, &size))
		return run_single(vm, size, stop, why);
	vm->stopped = STOPPED_AT_SPECIAL;
	observe_alone(vm, vm->steps, stop->pc);
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_PRIVILEGE;
	leave_block(vm, 0);
	return 0;
}

/* The engine stopped before an instruction that it cannot execute rightly. */
static void perform(struct vm *vm, struct vm_stop *stop)
{
	stop_in_block(vm, stop->pc);
	switch (vm->cpu.arch->perform(&vm->cpu, stop)) {
	case PERFORMED:
		vm_skip(vm, stop);
		vm->emulated = true;
		break;
	case PERFORMED_BY_ENGINE:
		vm->emulated = true;
		break;
	default:
		break;
	}
}

/* There is a budget left that is too small for the next block. */
static int run_rest(struct vm *vm, uint64_t left, struct vm_stop *stop,
		    struct failure *why)
{
	int rc;

	clock_grant(vm, left);
	rc = run_part(vm, vm->stop_block, (unsigned)left, stop, why);
	clock_settle(vm);
	return rc;
}

/*
 * The engine fetches a whole block before it executes any of it.  Where the
 * fetch fails on a later page, what is whole before that page runs first;
 * 0 in `*done` if there is nothing, and the fault is at the first instruction.
 */
static int run_to_page_end(struct vm *vm, uint64_t left, unsigned *done,
			   struct vm_stop *stop, struct failure *why)
{
	uint64_t size = vm->fault_page - stop->pc;
	const struct block *block;
	uint32_t number;
	int rc;

	*done = 0;
	if (vm->fault_access != ACCESS_FETCH || vm->fault_page <= stop->pc ||
	    size > GUEST_PAGE)
		return 0;
	number = block_decode(vm, stop->pc, (uint32_t)size);
	if (!number)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	block = &vm->blocks[number];
	while (*done < block->inlined.count && *done < block->special &&
	       *done < left &&
	       block_address_of(vm, block, *done + 1) >
		       block_address_of(vm, block, *done))
		++*done;
	if (!*done)
		return 0;
	clock_grant(vm, *done);
	rc = run_part(vm, number, *done, stop, why);
	clock_settle(vm);
	return rc;
}

/*
 * Whether the guest only stopped because it wrote code, or had too much of it
 * translated: it goes on then.
 */
static bool stopped_for_code(struct vm *vm)
{
	if (!vm->code_changed || vm->wanted)
		return false;
	vm->code_changed = false;
	engine_counter(vm->engine)->asked = 0;
	if (vm->stopped != STOPPED_AT_BLOCK)
		return false;
	vm->emulated = true;		/* behind translations_refresh() */
	return true;
}

/* Whether the guest only stopped to ask for the code of a page. */
static bool ask_for_code(struct vm *vm)
{
	if (!vm->code_doubted)
		return false;
	vm->code_doubted = vm->faulted = false;
	code_settle(vm->memory, vm->doubted_page);
	vm->emulated = true;		/* behind translations_refresh() */
	return true;
}

/* Runs the engine once, and explains or completes what stopped it. */
static int run_once(struct vm *vm, uint64_t budget, bool exact,
		    struct vm_stop *stop, struct failure *why)
{
	uint64_t before = vm->steps, left;
	int rc;

	translations_refresh(vm);
	if (vm->block_count > engine_blocks_most(vm->engine))
		translations_flush(vm);
	clock_grant(vm, budget);
	rc = run_engine(vm, engine_never(vm->engine), stop, why);
	clock_settle(vm);
	if (rc)
		return rc;
	left = budget - (vm->steps - before);
	if (ask_for_code(vm) || stopped_for_code(vm))
		return 0;
	if (vm->stopped == STOPPED_AT_BLOCK &&
	    !engine_counter(vm->engine)->asked && exact && left)
		rc = run_rest(vm, left, stop, why);
	else if (vm->stopped == STOPPED_AT_SPECIAL)
		rc = run_to_special(vm, stop, why);
	else if (vm->stopped == STOPPED_MISALIGNED)
		rc = run_to_misaligned(vm, stop, why);
	else if (vm->stopped == STOPPED_NOT && vm->faulted) {
		unsigned done;

		rc = run_to_page_end(vm, left, &done, stop, why);
		vm->emulated = done && vm->stopped == STOPPED_NOT &&
			       !vm->faulted;
	}
	/* Also in the part of a block that has just run. */
	if (!rc && vm->stopped == STOPPED_TO_ASK)
		rc = run_asking(vm, stop, why);
	if (vm->stopped == STOPPED_TO_PERFORM) {
		perform(vm, stop);
	} else if (vm->stopped == STOPPED_TO_REPLAN) {
		stop_in_block(vm, stop->pc);
		vm->emulated = true;
	}
	if (!rc && !ask_for_code(vm))
		stopped_for_code(vm);
	return rc;
}

/* To step, the guest must be counted, also if nobody else wants that. */
static void begin_counting(struct vm *vm)
{
	if (!vm->uncounted)
		return;
	vm->uncounted = false;
	engine_run_counted(vm->engine);
	translations_flush(vm);
}

/* Fetching what follows is no part of a run. */
static bool is_fetch_fault(const struct vm_stop *stop)
{
	return stop->kind == VM_STOP_FAULT && stop->fault == FAULT_MEMORY &&
	       stop->access == ACCESS_FETCH;
}

/* Behind an instruction. */
static bool is_no_event(const struct vm_stop *stop)
{
	return stop->kind == VM_STOP_BUDGET || stop->kind == VM_STOP_ASKED ||
	       is_fetch_fault(stop);
}

/* An instruction that shows whether the program steps itself. */
static bool step_shown(struct vm *vm, struct vm_stop *stop)
{
	guest_addr pc = vm_reg(vm, vm->cpu.regs->pc);

	if (engine_counter(vm->engine)->asked ||
	    (break_is_at(vm, pc) && vm->passed != pc) ||
	    !vm->cpu.arch->shows_steps(&vm->cpu, pc))
		return false;
	*stop = (struct vm_stop){ .pc = pc };
	observe_alone(vm, vm->steps, pc);
	if (vm->cpu.arch->explain(&vm->cpu, stop) == PERFORMED) {
		vm_skip(vm, stop);
		*stop = step_trap(vm);
	}
	return true;
}

/*
 * Each iteration of a repeated string instruction traps, so each must be
 * noticed: a translation that was inlined would not tell.
 */
static void forget_repeated(struct vm *vm)
{
	guest_addr pc = vm_reg(vm, vm->cpu.regs->pc);
	struct cpu_code code;

	cpu_fetch(&vm->cpu, pc, &code);
	if (code.insn.repeats && code.insn.size)
		engine_drop(vm->engine, pc, code.insn.size);
}

/*
 * The same for a program that steps itself: one instruction at most.  It traps
 * behind it, also if that has just cleared the flag, but not behind a system
 * call.
 */
static int run_step(struct vm *vm, struct vm_stop *stop, struct failure *why)
{
	uint64_t before;
	int rc;

	begin_counting(vm);
	if (step_shown(vm, stop))
		return 0;
	forget_repeated(vm);
	before = vm->steps;
	rc = run_once(vm, 1, true, stop, why);
	if (rc)
		return rc;
	if (!vm->emulated)
		stop_explain(vm, stop);
	if (vm->stopped == STOPPED_REPEATING ||
	    (vm->steps > before && (vm->emulated || is_no_event(stop)))) {
		vm->emulated = false;
		*stop = step_trap(vm);
	}
	return 0;
}

/* Runs on until a stop is to be explained, or has been, by run_step(). */
static int run_on(struct vm *vm, uint64_t end, bool exact,
		  struct vm_stop *stop, bool *explained, struct failure *why)
{
	int rc;

	do {
		*explained = vm->cpu.own.steps && vm->steps < end;
		vm->emulated = false;
		if (*explained)
			rc = run_step(vm, stop, why);
		else
			rc = run_once(vm, end - vm->steps, exact, stop, why);
	} while (!rc && vm->emulated);
	return rc;
}

int vm_run(struct vm *vm, uint64_t budget, bool exact, struct vm_stop *stop,
	   struct failure *why)
{
	bool explained;
	uint64_t end;
	int rc;

	if (budget > BUDGET_MOST)
		budget = BUDGET_MOST;
	end = vm->steps + budget;
	vm->pauses = 0;
	engine_counter(vm->engine)->part = 0;
	rc = run_on(vm, end, exact, stop, &explained, why);
	vm->passed = ENGINE_NEVER;
	if (rc)
		return rc;
	if (!explained)
		stop_explain(vm, stop);
	/* The instruction after the last step is not part of this run. */
	if (exact && vm->steps == end && is_fetch_fault(stop))
		stop->kind = VM_STOP_BUDGET;
	return 0;
}
