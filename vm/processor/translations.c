/* SPDX-License-Identifier: GPL-2.0-or-later */
/* translations.c - dropping what is translated: code that has changed, or all */
#include "vm/processor/run.h"

#include <string.h>

/*
 * A translation is found by its arena address, whatever its permission is now.
 */
void translations_refresh(struct vm *vm)
{
	struct memory *memory = vm->memory;

	if (memory->stale_count) {
		vm->probing = true;
		tlb_flush(vm);
		for (size_t i = 0; i < memory->stale_count; i++) {
			guest_addr addr = memory->stale[i].addr;

			uc_ctl_remove_cache(vm->uc, addr,
					    addr + memory->stale[i].size);
		}
		memory->stale_count = 0;
		vm->probing = false;
		vm->generation = 0;
	}
	if (vm->generation != memory->generation) {
		tlb_flush(vm);
		vm->generation = memory->generation;
	}
}

void translations_flush(struct vm *vm)
{
	struct block present = vm->blocks[vm->counter->current];

	uc_ctl_flush_tb(vm->uc);
	memset(vm->known, 0, sizeof(vm->known));
	vm->block_count = 1;
	vm->demand_count = 0;
	vm->checks.used = 0;
	present.demands = 0;
	if (vm->counter->current) {
		vm->blocks[1] = present;
		vm->block_count = 2;
		vm->counter->current = 1;
	}
	vm->flushes++;
}
