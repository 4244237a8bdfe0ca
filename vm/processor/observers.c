/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observers.c - telling of instructions, and of accesses to data
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

static void observe_access(void *context, enum vm_access access,
			   guest_addr addr, unsigned size, uint64_t value)
{
	struct vm *vm = context;

	addr = memory_home(vm->memory, addr);
	for (size_t i = 0; i < vm->observer_count; i++) {
		const struct vm_observer *observer = vm->observers[i];

		if (observer->access && addr <= observer->data.last &&
		    addr + size - 1 >= observer->data.first)
			observer->access(observer->context, access, addr, size,
					 value);
	}
}

/* Has the engine tell what is observed now. */
static int arrange(struct vm *vm, struct failure *why)
{
	bool accesses = false;

	vm->observed = (struct vm_range){ UINT64_MAX, 0 };
	for (size_t i = 0; i < vm->observer_count; i++) {
		if (vm->observers[i]->instruction)
			widen(&vm->observed, &vm->observers[i]->code);
		accesses |= vm->observers[i]->access != NULL;
	}
	vm->cpu.access = accesses ? observe_access : NULL;
	vm->cpu.access_context = vm;
	vm->cpu.must_replan = true;
	return engine_watch(vm->engine, accesses, why);
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

struct vm_moment vm_moment(struct vm *vm)
{
	guest_addr pc = vm_reg(vm, vm->cpu.regs->pc);

	return (struct vm_moment){ steps_before(vm, pc), pc };
}

/* ------- accesses ------- */

/* The engine says where in the arena an access is. */
static guest_addr guest_address(struct vm *vm, uint64_t at)
{
	uint64_t page = at >> GUEST_PAGE_SHIFT;
	uint64_t generation = vm->memory->generation + 1;
	struct known_page *known = &vm->known_pages[page % KNOWN_PAGES];
	struct mapping *map;

	if (known->page != page || known->generation != generation) {
		map = arena_mapping(vm->memory, page);
		if (!map)
			return at;
		*known = (struct known_page) {
			page, generation,
			(mapping_page(map, page) << GUEST_PAGE_SHIFT),
		};
	}
	return known->addr + at % GUEST_PAGE;
}

void observe_engine_access(void *context, enum vm_access access, uint64_t paddr,
			   unsigned size, uint64_t value)
{
	observe_access(context, access, guest_address(context, paddr), size,
		       value);
}
