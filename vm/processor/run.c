/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - running the engine, and knowing exactly where it stopped */
#include "vm/processor/plan.h"
#include "vm/processor/run.h"
#include "vm/arch/x86/length.h"

#include <string.h>

#include "formats/error.h"

/* Whether it stopped before the block vm->stop_block. */
static bool is_before_block(const struct vm *vm)
{
	return vm->stopped == ENGINE_AT_BLOCK ||
	       vm->stopped == ENGINE_MISALIGNED ||
	       vm->stopped == ENGINE_SPECIAL;
}

/* Runs the engine from where the guest stands until it stops by itself. */
static int run_engine(struct vm *vm, guest_addr until, struct vm_stop *stop,
		      struct failure *why)
{
	uc_err err;

	vm->stopped = ENGINE_NONE;
	vm->faulted = false;
	hooks_run(vm);
	err = uc_emu_start(vm->uc, vm_reg(vm, X86_RIP), until, 0, 0);
	x86_mend_flags(vm);
	memset(stop, 0, sizeof(*stop));
	/* With a hook on instructions, the engine does not say so itself. */
	if (is_before_block(vm))
		vm_set_reg(vm, X86_RIP, vm->blocks[vm->stop_block].pc);
	stop->pc = vm_reg(vm, X86_RIP);
	if (vm->stopped != ENGINE_NONE || stop->pc == until)
		return 0;
	if (vm->faulted)
		return 0;
	if (err == UC_ERR_INSN_INVALID || err == UC_ERR_EXCEPTION) {
		vm->stopped = ENGINE_INVALID;
		return 0;
	}
	return failed(why, ERR_SYSTEM, "the engine stopped at 0x%llx: %s",
		      (unsigned long long)stop->pc, uc_strerror(err));
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

	uc_ctl_remove_cache(vm->uc, block.pc, block.pc + block.size);
	vm->partial = true;
	vm->counter->current = 0;
	rc = run_engine(vm, until, stop, why);
	vm->partial = false;
	uc_ctl_remove_cache(vm->uc, block.pc, block.pc + block.size);
	return rc;
}

/* The instruction is executed on the host if its operand allows it. */
static void explain_operand(struct vm *vm, struct vm_stop *stop)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	guest_addr addr;
	unsigned size, length;

	block_code(vm, stop->pc, code, &opcode);
	if (align_wants(code, opcode, code + stop->size) &&
	    !align_is_met(vm, stop->pc, code, opcode, code + stop->size)) {
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_PRIVILEGE;
	} else if (block_operand(vm, stop->pc, &addr, &size, &length)) {
		x86_operand_faults(vm, addr, size, ACCESS_READ, stop);
	}
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
		if (rc || vm->faulted || vm->stopped != ENGINE_NONE)
			return rc;
	}
	vm->stopped = ENGINE_SPECIAL;
	if (vm->trace)		/* the engine does not get to see it */
		vm->trace(vm->trace_context, vm->steps, stop->pc);
	if (!block_explain(vm, stop->pc, stop)) {
		vm->emulated = x86_emulate(vm, stop);
	} else if (stop->kind == VM_STOP_VALUE && stop->value == VALUE_HOST) {
		explain_operand(vm, stop);
	} else if (stop->kind == VM_STOP_FAULT &&
		   (stop->fault == FAULT_BREAKPOINT ||
		    stop->fault == FAULT_DEBUG)) {
		stop->pc += stop->size;
		vm_set_reg(vm, X86_RIP, stop->pc);
		vm->steps++;
	}
	vm->counter->current = 0;
	return 0;
}

/* Runs one instruction, which is as the engine executes it. */
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
	vm->emulated = vm->stopped == ENGINE_NONE && !vm->faulted;
	return rc;
}

/* The engine stopped before a block with an operand that is not aligned. */
static int run_to_misaligned(struct vm *vm, struct vm_stop *stop,
			     struct failure *why)
{
	uint32_t number = vm->stop_block;
	unsigned index = align_violation(vm, &vm->blocks[number]);
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size;
	int rc = 0;

	if (index && index != NO_SPECIAL) {
		clock_grant(vm, index);
		rc = run_part(vm, number, index, stop, why);
		clock_settle(vm);
	}
	if (rc || vm->faulted || (index && vm->stopped != ENGINE_NONE))
		return rc;
	size = block_code(vm, stop->pc, code, &opcode);
	size = x86_length(code, size);
	if (align_is_met(vm, stop->pc, code, opcode, code + size))
		return run_single(vm, (unsigned)size, stop, why);
	vm->stopped = ENGINE_SPECIAL;
	if (vm->trace)
		vm->trace(vm->trace_context, vm->steps, stop->pc);
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_PRIVILEGE;
	vm->counter->current = 0;
	return 0;
}

/* The engine stopped before an instruction of x87 that raises an exception. */
static void raise_x87(struct vm *vm, struct vm_stop *stop)
{
	stop_in_block(vm, stop->pc);
	vm->emulated = trap_perform_x87(vm, stop);
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
	while (*done < block->count && *done < block->special && *done < left &&
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

/* Whether the guest only stopped because it wrote code: it goes on then. */
static bool stopped_for_code(struct vm *vm)
{
	if (!vm->code_changed || vm->wanted)
		return false;
	vm->code_changed = false;
	vm->counter->asked = 0;
	if (vm->stopped != ENGINE_AT_BLOCK)
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

/* Runs until something happens that the engine cannot go on behind. */
static int run_once(struct vm *vm, uint64_t budget, bool exact,
		    struct vm_stop *stop, struct failure *why)
{
	uint64_t before = vm->steps, left;
	int rc;

	translations_refresh(vm);
	if (vm->block_count > BLOCKS_MOST)
		translations_flush(vm);
	clock_grant(vm, budget);
	rc = run_engine(vm, NEVER, stop, why);
	clock_settle(vm);
	if (rc)
		return rc;
	left = budget - (vm->steps - before);
	if (ask_for_code(vm) || stopped_for_code(vm))
		return 0;
	if (vm->stopped == ENGINE_AT_BLOCK && !vm->counter->asked && exact &&
	    left)
		rc = run_rest(vm, left, stop, why);
	else if (vm->stopped == ENGINE_SPECIAL)
		rc = run_to_special(vm, stop, why);
	else if (vm->stopped == ENGINE_MISALIGNED)
		rc = run_to_misaligned(vm, stop, why);
	else if (vm->stopped == ENGINE_NONE && vm->faulted) {
		unsigned done;

		rc = run_to_page_end(vm, left, &done, stop, why);
		vm->emulated = done && vm->stopped == ENGINE_NONE &&
			       !vm->faulted;
	}
	/* Also in the part of a block that has just run. */
	if (vm->stopped == ENGINE_FLOAT_RAISED) {
		raise_x87(vm, stop);
	} else if (vm->stopped == ENGINE_UNMASKED) {
		stop_in_block(vm, stop->pc);
		vm->emulated = true;
	}
	if (!rc && !ask_for_code(vm))
		stopped_for_code(vm);
	return rc;
}

int vm_run(struct vm *vm, uint64_t budget, bool exact, struct vm_stop *stop,
	   struct failure *why)
{
	uint64_t end;
	int rc;

	if (budget > BUDGET_MOST)
		budget = BUDGET_MOST;
	end = vm->steps + budget;
	vm->pauses = 0;
	do {
		vm->emulated = false;
		rc = run_once(vm, end - vm->steps, exact, stop, why);
	} while (!rc && vm->emulated);
	if (rc)
		return rc;
	stop_explain(vm, stop);
	/* What comes after the last step has not been tried yet. */
	if (exact && vm->steps == end && stop->kind == VM_STOP_FAULT &&
	    stop->fault == FAULT_MEMORY && stop->access == ACCESS_FETCH)
		stop->kind = VM_STOP_BUDGET;
	return 0;
}
