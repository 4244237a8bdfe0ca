/* SPDX-License-Identifier: GPL-2.0-or-later */
/* entry.c - what happens when the engine enters a block */
#include "vm/processor/processor.h"

#include "formats/error.h"

static void stop(struct vm *vm, enum engine_stop why)
{
	vm->stopped = why;
	engine_stop(vm->engine);
}

/* Lowers the budget by a block's instructions, if there are enough left. */
static bool pay(struct vm *vm, uint32_t number)
{
	const struct block *block = &vm->blocks[number];
	struct counter *counter = engine_counter(vm->engine);
	unsigned special = block->special, misaligned = NO_SPECIAL;
	unsigned count = block->inlined.count;
	int64_t left;

	if (vm->held && counter->budget < count && !counter->asked)
		clock_refill(vm);
	left = __atomic_load_n(&counter->budget, __ATOMIC_RELAXED);
	vm->stop_block = number;
	if (block->breaks && !vm->partial && left > 0 &&
	    vm->passed != block->inlined.pc) {
		stop(vm, STOPPED_AT_BREAK);
		return false;
	}
	/* A part of a block ends before that. */
	if (block->inlined.demands && !vm->partial)
		misaligned = block_violation(vm, block);
	if (misaligned < special)
		special = misaligned;
	if (left < 0 || (left < count && left <= special)) {
		stop(vm, STOPPED_AT_BLOCK);
		return false;
	}
	if (special != NO_SPECIAL) {
		stop(vm, misaligned <= special ? STOPPED_MISALIGNED :
						 STOPPED_AT_SPECIAL);
		return false;
	}
	/* What asks the TLB has been told when it was refused. */
	if (vm->parted && !vm->asking && !observe_arrival(vm, block)) {
		stop(vm, STOPPED_AT_BLOCK);
		return false;
	}
	__atomic_fetch_sub(&counter->budget, count, __ATOMIC_RELAXED);
	counter->current = number;
	vm->passed = ENGINE_NEVER;
	return true;
}

/*
 * The same for a storing instruction that is executed again.  The guest must
 * stop after it: before it, the same store would be noticed again and again.
 */
static bool pay_again(struct vm *vm, uint32_t number)
{
	struct counter *counter = engine_counter(vm->engine);
	bool stops = vm->code_changed && !vm->wanted && counter->asked;

	if (stops) {
		counter->asked = 0;
		__atomic_fetch_add(&counter->budget, ASKED_PENALTY,
				   __ATOMIC_RELAXED);
	}
	if (!pay(vm, number))
		return false;
	if (stops)
		vm_stop_soon(vm);
	return true;
}

static uint32_t on_meet(void *context, guest_addr pc, uint32_t size)
{
	struct vm *vm = context;
	uint32_t number = block_decode(vm, pc, size);

	/* The engine is in the middle of a block: no way back. */
	if (!number)
		give_up("out of memory");
	code_pages_watch(vm, pc, size);
	if (vm->block_count > engine_blocks_most(vm->engine)) {
		vm->code_changed = true;
		vm_stop_soon(vm);
	}
	return number;
}

static bool goes_on(const struct block *block, const struct block *before)
{
	return block->inlined.starts_rep && before && before->ends_rep &&
	       before->inlined.pc + before->inlined.size - before->last_size ==
		       block->inlined.pc;
}

/*
 * A store into the very block that executes it: the engine drops the block
 * and executes the storing instruction again as a block of its own.  Others of
 * one instruction end blocks, or are special.
 */
static bool is_restart(const struct block *block, const struct block *before)
{
	return block->inlined.count == 1 && !block->ends_block &&
	       block->special == NO_SPECIAL && before &&
	       before->inlined.count > 1 &&
	       block->inlined.pc - before->inlined.pc < before->inlined.size;
}

/* The block before was charged for instructions that it will not execute. */
static void give_back_rest(struct vm *vm, const struct block *before,
			   guest_addr pc)
{
	unsigned index = block_index_of(vm, before, pc);

	__atomic_fetch_add(&engine_counter(vm->engine)->budget,
			   before->inlined.count - index, __ATOMIC_RELAXED);
}

/* Inlined code found that the block must not run; it has only counted. */
static void enter_unpaid(struct vm *vm, uint32_t number,
			 enum engine_entry entry)
{
	struct counter *counter = engine_counter(vm->engine);

	leave_block(vm, 0);
	if (entry == ENTRY_COUNTED) {
		/* It has paid and found too little: give it back. */
		__atomic_fetch_add(&counter->budget,
				   vm->blocks[number].inlined.count,
				   __ATOMIC_RELAXED);
		pay(vm, number);
		return;
	}
	vm->stop_block = number;
	stop(vm, counter->asked ? STOPPED_AT_BLOCK : STOPPED_MISALIGNED);
}

/* The instruction was paid for, but has not retired. */
static void stop_repeating(struct vm *vm, uint32_t number)
{
	struct counter *counter = engine_counter(vm->engine);

	__atomic_fetch_add(&counter->budget, 1, __ATOMIC_RELAXED);
	leave_block(vm, 0);
	vm->stop_block = number;
	stop(vm, STOPPED_REPEATING);
}

/* A repeated instruction of a part of the code would be counted each time. */
static bool may_inline(const struct vm *vm, const struct block *block)
{
	bool is_heard = block->inlined.starts_rep &&
			(block->inlined.part || block->inlined.demands);

	return !vm->partial && !block->breaks && !block->observed &&
	       !block->told && !vm->cpu.own.steps && !is_heard;
}

static const struct engine_block *to_inline(const struct vm *vm,
					    const struct block *block,
					    enum engine_entry entry)
{
	return entry == ENTRY_CALLED && may_inline(vm, block) ?
		       &block->inlined : NULL;
}

static const struct engine_block *on_enter(void *context, uint32_t number,
					   enum engine_entry entry)
{
	struct vm *vm = context;
	struct counter *counter = engine_counter(vm->engine);
	const struct block *block = &vm->blocks[number], *before = NULL;
	bool restart;

	vm->at.block = 0;
	if (entry == ENTRY_COUNTED || entry == ENTRY_UNCOUNTED) {
		enter_unpaid(vm, number, entry);
		return NULL;
	}
	if (counter->current)
		before = &vm->blocks[counter->current];
	if (goes_on(block, before)) {
		counter->current = number;
		accesses_iterate(vm);
		if (vm->cpu.own.steps &&
		    vm->cpu.arch->goes_on(&vm->cpu, block->inlined.pc))
			stop_repeating(vm, number);
		return vm->asking ? NULL : to_inline(vm, block, entry);
	}
	restart = is_restart(block, before);
	if (restart) {
		accesses_take_back(vm, block->inlined.pc);
		give_back_rest(vm, before, block->inlined.pc);
	}
	if (restart ? !pay_again(vm, number) : !pay(vm, number))
		return NULL;
	if (block->inlined.starts_rep)
		accesses_iterate(vm);
	if (vm->asking) {
		vm->code_changed = true;
		vm_stop_soon(vm);
	}
	if (block->pauses) {
		if (++vm->pauses == vm->pauses_most)
			vm_interrupt(vm);
		return NULL;
	}
	return restart ? NULL : to_inline(vm, block, entry);
}

/* What must happen before an instruction that may need something. */
static void prepare(struct vm *vm, const struct engine_call *call)
{
	struct vm_stop what = { .pc = call->pc };

	switch (vm->cpu.arch->before(&vm->cpu, call, &what)) {
	case BEFORE_RUNS:
		break;
	case BEFORE_FAULTS:
		vm->before = what;
		stop(vm, STOPPED_BY_FAULT);
		break;
	case BEFORE_REPLANS:
		stop(vm, STOPPED_TO_REPLAN);
		break;
	case BEFORE_PERFORMS:
		stop(vm, STOPPED_TO_PERFORM);
	}
}

static void on_instruction(void *context, struct engine_call *call)
{
	struct vm *vm = context;
	const struct block *block =
		&vm->blocks[engine_counter(vm->engine)->current];

	if (block->observed)
		call->stays = true;
	if (block->hooked || !block->observed)
		prepare(vm, call);
	/* It will come again if it is to be translated anew, and has been told
	 * if it asks the TLB. */
	if (block->observed && vm->stopped != STOPPED_TO_REPLAN && !vm->asking)
		observe_instruction(vm, steps_before(vm, call->pc), call->pc);
}

/* ------- the rest of what the engine calls ------- */

static unsigned on_translate(void *context, guest_addr pc, unsigned most)
{
	return plan_block(context, pc, most);
}

static const uint8_t *on_common(void *context, guest_addr pc, size_t *left)
{
	return plan_common(context, pc, left);
}

static void on_disguise(void *context, guest_addr pc)
{
	plan_disguise(context, pc);
}

static void on_syscall(void *context)
{
	stop(context, STOPPED_BY_SYSCALL);
}

static void on_exception(void *context, unsigned number)
{
	struct vm *vm = context;

	vm->exception = number;
	stop(vm, STOPPED_BY_EXCEPTION);
}

static void on_invalid(void *context)
{
	struct vm *vm = context;

	vm->stopped = STOPPED_BY_INVALID;
}

const struct engine_calls processor_calls = {
	.translate = on_translate,
	.common = on_common,
	.disguise = on_disguise,
	.meet = on_meet,
	.enter = on_enter,
	.instruction = on_instruction,
	.miss = pages_miss,
	.syscall = on_syscall,
	.exception = on_exception,
	.invalid = on_invalid,
};
