/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - telling of each instruction and each access to data */
#include "vm/processor/processor.h"

#include <stdlib.h>

#include "formats/error.h"

/* Direct mapped; to decode an instruction again is slow, no more.  A choice. */
#define KNOWN_ORDERS 65536
#define KNOWN_FLOWS 16384
#define KNOWN_PAGES 1024

/* What was found out, direct mapped.  Generations: 0 if nothing is known. */
struct watch_cache {
	struct {
		guest_addr pc;
		uint64_t generation;
		enum vm_order order;
	} orders[KNOWN_ORDERS];
	struct {
		guest_addr pc;
		uint64_t generation;
		struct vm_flow flow;
	} flows[KNOWN_FLOWS];
	struct {
		uint64_t page;	/* of the arena */
		uint64_t generation;
		guest_addr addr;
	} pages[KNOWN_PAGES];
};

/* The engine says where in the arena an access is. */
static guest_addr guest_address(struct vm *vm, uint64_t at)
{
	uint64_t page = at >> GUEST_PAGE_SHIFT;
	uint64_t generation = vm->memory->generation + 1;
	struct mapping *map;

	if (vm->seen->pages[page % KNOWN_PAGES].page != page ||
	    vm->seen->pages[page % KNOWN_PAGES].generation != generation) {
		map = arena_mapping(vm->memory, page);
		if (!map)
			return at;
		vm->seen->pages[page % KNOWN_PAGES].page = page;
		vm->seen->pages[page % KNOWN_PAGES].generation = generation;
		vm->seen->pages[page % KNOWN_PAGES].addr = map->region.start +
			((page << GUEST_PAGE_SHIFT) - map->arena);
	}
	return vm->seen->pages[page % KNOWN_PAGES].addr + at % GUEST_PAGE;
}

void watch_access(void *context, enum vm_access access, uint64_t paddr,
		  unsigned size, uint64_t value)
{
	struct vm *vm = context;

	vm->cpu.watch(vm->cpu.watch_context, access, guest_address(vm, paddr),
		      size, value);
}

void watch_trace(void *context, guest_addr pc)
{
	struct vm *vm = context;

	vm->trace(vm->trace_context, vm_steps_at_block(vm) + vm->traced++, pc);
}

/* What was found out is kept here. */
static int make_cache(struct vm *vm, struct failure *why)
{
	if (!vm->seen)
		vm->seen = calloc(1, sizeof(*vm->seen));
	return vm->seen ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

int vm_trace(struct vm *vm, vm_trace_fn *trace, void *context,
	     struct failure *why)
{
	int rc = make_cache(vm, why);

	if (!rc)
		rc = engine_trace(vm->engine, why);
	if (rc)
		return rc;
	vm->trace = trace;
	vm->trace_context = context;
	vm->cpu.must_replan = true;
	return 0;
}

int vm_watch(struct vm *vm, vm_watch_fn *watch, void *context,
	     struct failure *why)
{
	int rc = make_cache(vm, why);

	if (!rc)
		rc = engine_watch(vm->engine, why);
	if (rc)
		return rc;
	vm->cpu.watch = watch;
	vm->cpu.watch_context = context;
	vm->cpu.must_replan = true;
	return 0;
}

/* ------- what instructions do ------- */

enum vm_order vm_order(struct vm *vm, guest_addr pc)
{
	size_t slot = pc % KNOWN_ORDERS;
	uint64_t generation = vm->memory->generation + 1;

	if (vm->seen->orders[slot].pc != pc ||
	    vm->seen->orders[slot].generation != generation) {
		vm->seen->orders[slot].pc = pc;
		vm->seen->orders[slot].generation = generation;
		vm->seen->orders[slot].order =
			vm->cpu.arch->order(&vm->cpu, pc);
	}
	return vm->seen->orders[slot].order;
}

struct vm_flow vm_flow(struct vm *vm, guest_addr pc)
{
	size_t slot = pc % KNOWN_FLOWS;
	uint64_t generation = vm->memory->generation + 1;

	if (vm->seen->flows[slot].pc != pc ||
	    vm->seen->flows[slot].generation != generation) {
		vm->seen->flows[slot].pc = pc;
		vm->seen->flows[slot].generation = generation;
		vm->seen->flows[slot].flow = vm->cpu.arch->flow(&vm->cpu, pc);
	}
	return vm->seen->flows[slot].flow;
}
