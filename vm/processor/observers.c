/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observers.c - who observes the guest, and telling of instructions
 *
 * A block with an instruction that somebody observes has the hook on it
 * (plan.c) and is never inlined, so the engine calls when it is entered and
 * before each of them.  All other blocks run as ever.
 */
#include "vm/processor/processor.h"

#include "formats/array.h"
#include "formats/error.h"

/* ------- who observes ------- */

/* The range that holds what all of them observe; empty: nothing. */
static void widen(struct vm_range *all, const struct vm_range *range)
{
	if (range->first < all->first)
		all->first = range->first;
	if (range->last > all->last)
		all->last = range->last;
}

/* Has the engine tell what is observed now. */
static int arrange(struct vm *vm, struct failure *why)
{
	const struct vm_range before = vm->observed;

	vm->observed = (struct vm_range){ UINT64_MAX, 0 };
	for (size_t i = 0; i < vm->observer_count; i++)
		if (vm->observers[i]->instruction)
			widen(&vm->observed, &vm->observers[i]->code);
	if (before.first <= before.last || vm->observed.first <=
						   vm->observed.last)
		vm->cpu.must_replan = true;
	return accesses_arrange(vm, why);
}

int vm_observe(struct vm *vm, const struct vm_observer *observer,
	       struct failure *why)
{
	int rc;

	if (array_room(vm->observers, vm->observer_count, vm->observer_room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	vm->observers[vm->observer_count++] = observer;
	rc = arrange(vm, why);
	if (rc)
		vm_unobserve(vm, observer);
	return rc;
}

void vm_unobserve(struct vm *vm, const struct vm_observer *observer)
{
	size_t left = 0;

	for (size_t i = 0; i < vm->observer_count; i++)
		if (vm->observers[i] != observer)
			vm->observers[left++] = vm->observers[i];
	vm->observer_count = left;
	arrange(vm, NULL);	/* taking away does not fail */
}

/* ------- instructions ------- */

bool observers_want(const struct vm *vm, guest_addr pc, uint64_t size)
{
	return pc <= vm->observed.last && pc + size >= vm->observed.first;
}

void observe_instruction(struct vm *vm, uint64_t steps, guest_addr pc)
{
	accesses_tell(vm);
	for (size_t i = 0; i < vm->observer_count; i++) {
		const struct vm_observer *observer = vm->observers[i];

		if (observer->instruction && pc >= observer->code.first &&
		    pc <= observer->code.last)
			observer->instruction(observer->context, steps, pc);
	}
}

/*
 * The index of an instruction in the block under way.  They come one after the
 * other, so the search goes on from the last one.
 */
static unsigned index_now(struct vm *vm, guest_addr pc)
{
	uint32_t number = engine_counter(vm->engine)->current;
	const struct block *block = &vm->blocks[number];
	struct place *at = &vm->at;

	if (at->block != number || pc < at->pc)
		*at = (struct place){ number, 0, block->inlined.pc };
	while (at->index < block->inlined.count && at->pc != pc)
		at->pc += vm->sizes[block->first_size + at->index++];
	return at->index;
}

uint64_t steps_before(struct vm *vm, guest_addr pc)
{
	if (!vm->running || !engine_counter(vm->engine)->current)
		return vm->steps;
	return vm_steps_at_block(vm) + index_now(vm, pc);
}
