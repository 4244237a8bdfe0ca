/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translations.c - dropping what is translated: code that has changed, or all
 */
#include "vm/processor/processor.h"

/*
 * Drops what was translated before instructions wanted something else: all of
 * it.  Dropped page by page, it would stay where it is.
 */
static void forget_code(struct vm *vm)
{
	vm->cpu.must_replan = false;
	vm->plans_apart = true;
	if (vm->block_count)
		translations_flush(vm);
}

/*
 * A translation is found by its arena address, whatever its permission is now.
 */
void translations_refresh(struct vm *vm)
{
	struct memory *memory = vm->memory;
	uint64_t code_generation;

	direct_settle(vm);
	if (vm->cpu.must_replan)
		forget_code(vm);
	/* entry.c compares blocks, which must have been planned alike. */
	if (vm->replans)
		leave_block(vm, vm_came_from(vm));
	vm->replans = false;
	if (memory->stale_count) {
		vm->probing = true;
		tlb_flush(vm, false);
		for (size_t i = 0; i < memory->stale_count; i++) {
			guest_addr addr = memory->stale[i].addr;

			engine_drop(vm->engine, addr,
				    memory->stale[i].size);
		}
		memory->stale_count = 0;
		vm->probing = false;
		vm->generation = 0;
	}
	if (vm->generation != memory->generation) {
		code_generation = memory->generation - memory->of_data;
		tlb_flush(vm, vm->code_generation == code_generation);
		vm->generation = memory->generation;
		vm->code_generation = code_generation;
	}
}

void translations_flush(struct vm *vm)
{
	engine_drop_all(vm->engine);
	blocks_forget(vm);
	vm->flushes++;
}

uint32_t vm_translations(const struct vm *vm)
{
	return vm->block_count;
}
