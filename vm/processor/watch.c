/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.c - telling of each access to data, and which are indivisible
 *
 * Source: Intel 64 SDM volume 3, 9.1.2 (bus locking): LOCK prefixes, and XCHG
 * with memory without one.
 */
#include "vm/vm_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/arch/x86/prefixes.h"

#define KNOWN_ORDERS 65536
#define KNOWN_PAGES 1024

/* What was found out, direct mapped.  Generations: 0 if nothing is known. */
struct watch_cache {
	struct {
		guest_addr pc;
		uint64_t generation;
		enum vm_order order;
	} orders[KNOWN_ORDERS];
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

static void on_access(uc_engine *uc, uc_mem_type type, uint64_t addr, int size,
		      int64_t value, void *user)
{
	struct vm *vm = user;

	(void)uc;
	vm->watch(vm->watch_context,
		  type == UC_MEM_WRITE ? ACCESS_WRITE : ACCESS_READ,
		  guest_address(vm, addr), (unsigned)size, (uint64_t)value);
}

int vm_watch(struct vm *vm, vm_watch_fn *watch, void *context,
	     struct failure *why)
{
	uc_hook hook;
	uc_err err;

	vm->seen = calloc(1, sizeof(*vm->seen));
	if (!vm->seen)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	err = uc_hook_add(vm->uc, &hook,
			  UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE,
			  (void *)on_access, vm, 1, 0);
	if (err)
		return failed(why, ERR_SYSTEM, "cannot watch memory: %s",
			      uc_strerror(err));
	vm->watch = watch;
	vm->watch_context = context;
	hooks_forget_code(vm);
	return 0;
}

void watch_operand(struct vm *vm, guest_addr addr, const uint8_t *bytes,
		   unsigned size)
{
	for (unsigned at = 0; vm->watch && at < size; at += 8) {
		unsigned span = size - at < 8 ? size - at : 8;
		uint64_t value = 0;

		if (bytes)
			memcpy(&value, bytes + at, span);
		vm->watch(vm->watch_context,
			  bytes ? ACCESS_WRITE : ACCESS_READ, addr + at, span,
			  value);
	}
}

/*
 * A byte of an instruction that the guest executes; those behind it may be on
 * a page that it does not touch.
 */
static uint8_t code_byte(struct vm *vm, guest_addr addr)
{
	struct mapping *map = memory_find(vm->memory, addr);

	return map ? vm->memory->arena[mapping_arena(map, addr)] : 0;
}

static enum vm_order order_of(struct vm *vm, guest_addr pc)
{
	bool lock = false;
	uint8_t byte = code_byte(vm, pc);

	for (unsigned i = 0; i < 14 && is_legacy_prefix(byte); i++) {
		lock |= byte == 0xf0;
		byte = code_byte(vm, ++pc);
	}
	if ((byte & 0xf0) == 0x40)	/* REX */
		byte = code_byte(vm, ++pc);
	if (byte == 0x86 || byte == 0x87)	/* XCHG */
		return code_byte(vm, pc + 1) < 0xc0 ? VM_ATOMIC : VM_PLAIN;
	if (!lock)
		return VM_PLAIN;
	if (byte != 0x0f)
		return VM_ATOMIC;
	byte = code_byte(vm, pc + 1);
	/* CMPXCHG; CMPXCHG8B and CMPXCHG16B */
	return byte == 0xb0 || byte == 0xb1 || byte == 0xc7 ? VM_COMPARES :
							      VM_ATOMIC;
}

enum vm_order vm_order(struct vm *vm, guest_addr pc)
{
	size_t slot = pc % KNOWN_ORDERS;
	uint64_t generation = vm->memory->generation + 1;

	if (vm->seen->orders[slot].pc != pc ||
	    vm->seen->orders[slot].generation != generation) {
		vm->seen->orders[slot].pc = pc;
		vm->seen->orders[slot].generation = generation;
		vm->seen->orders[slot].order = order_of(vm, pc);
	}
	return vm->seen->orders[slot].order;
}
