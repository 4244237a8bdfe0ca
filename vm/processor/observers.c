/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observers.c - who observes the guest, and telling of instructions
 *
 * A block with an instruction that somebody observes has the hook on it
 * (plan.c) and is never inlined, so the engine calls when it is entered and
 * before each of them.  All other blocks run as ever.
 *
 * Of code that has parts, a block is all of one part.  What is inlined in it
 * compares the part with that of the block before and calls if they differ; a
 * block that is always told is one that is not inlined.
 */
#include "vm/processor/processor.h"

#include <assert.h>

#include "formats/array.h"
#include "formats/error.h"

/* ------- who observes ------- */

static const struct vm_range nowhere = { UINT64_MAX, 0 };

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
	const bool had_parts = vm->parted;

	vm->observed = nowhere;
	vm->parted = NULL;
	for (size_t i = 0; i < vm->observer_count; i++) {
		const struct vm_observer *observer = vm->observers[i];

		if (observer->part) {
			assert(!vm->parted);
			vm->parted = observer;
		} else if (observer->instruction) {
			widen(&vm->observed, &observer->code);
		}
	}
	if (before.first <= before.last || had_parts || vm->parted ||
	    vm->observed.first <= vm->observed.last)
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

		if (observer->instruction && !observer->part &&
		    pc >= observer->code.first &&
		    pc <= observer->code.last)
			observer->instruction(observer->context, steps, pc);
	}
}

/* ------- parts of the code ------- */

/* False if the code from `pc` on must be planned anew now. */
static bool tell_part(struct vm *vm, uint64_t steps, guest_addr pc,
		      uint64_t size)
{
	vm->replanned = nowhere;
	accesses_tell(vm);
	vm->parted->instruction(vm->parted->context, steps, pc);
	return pc > vm->replanned.last ||
	       pc + size - 1 < vm->replanned.first;
}

bool observe_arrival(struct vm *vm, const struct block *block)
{
	struct counter *counter = engine_counter(vm->engine);
	const struct engine_block *what = &block->inlined;

	if ((block->told || (what->part && what->part != counter->part)) &&
	    !tell_part(vm, vm_steps(vm), what->pc, what->size))
		return false;
	if (what->part)
		counter->part = what->part;
	return true;
}

/* Nothing has to be planned for it. */
static void tell_part_alone(struct vm *vm, uint64_t steps, guest_addr pc)
{
	struct counter *counter = engine_counter(vm->engine);
	unsigned part = part_at(vm, pc);
	unsigned number = part & ~VM_PART_TOLD;

	if (part & VM_PART_TOLD || (number && number != counter->part))
		while (!tell_part(vm, steps, pc, 1))
			;
	if (number)
		counter->part = number;
}

void observe_alone(struct vm *vm, uint64_t steps, guest_addr pc)
{
	if (vm->parted)
		tell_part_alone(vm, steps, pc);
	observe_instruction(vm, steps, pc);
}

static void drop(struct vm *vm, guest_addr addr, uint64_t size)
{
	const struct mapping *map = memory_find(vm->memory, addr);

	if (map)
		memory_note_stale(vm->memory, map, addr, size);
}

/* Also what ends before it: it may have to end elsewhere. */
void vm_replan(struct vm *vm, guest_addr addr, uint64_t size)
{
	drop(vm, addr - 1, 1);
	drop(vm, addr, size);
	vm->replans = true;
	vm->replanned = (struct vm_range){ addr, addr + size - 1 };
	vm->flushes++;
	if (!vm->running)
		return;
	vm->code_changed = true;
	vm_stop_soon(vm);
}

void vm_replan_all(struct vm *vm)
{
	vm->cpu.must_replan = vm->replans = true;
	vm->flushes++;
}

guest_addr vm_came_from(const struct vm *vm)
{
	uint32_t number = engine_counter(vm->engine)->current;
	const struct block *block = &vm->blocks[number];

	return number ? block->inlined.pc + block->inlined.size -
				block->last_size : vm->came_from;
}

/* ------- where in a block ------- */

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
