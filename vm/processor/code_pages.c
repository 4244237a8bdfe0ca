/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_pages.c - code that the program writes, on pages that it executes
 *
 * The engine notices the first write to a page that has translations, drops
 * those that the write hits, and is blind to further writes while others are
 * left (2.1.1; later versions see all, at several times the price of every
 * store).  So a page of which a block was translated, and that the guest may
 * write to, is watched: the TLB does not let writes pass.  The first one says
 * so, all translations of the page go before the next block, and the page is
 * watched again when a new one is made.
 *
 * So the engine need not notice anything: whenever a page gets its first
 * translation, it would look through all of its TLB for entries that let writes
 * pass, which takes a tenth of the time of a short replay.
 */
#include <stdlib.h>

#include "vm/vm_internal.h"
#include "vm/engine/build/exact.h"

bool code_page_is_watched(const struct vm *vm, uint64_t page)
{
	return number_map_find(&vm->code_pages, page) != NULL;
}

void code_page_written(struct vm *vm, const struct mapping *map,
		       guest_addr addr)
{
	guest_addr start = addr & ~(guest_addr)(GUEST_PAGE - 1);

	number_map_remove(&vm->code_pages,
			  mapping_arena(map, addr) >> GUEST_PAGE_SHIFT);
	memory_note_stale(vm->memory, map, start, GUEST_PAGE);
	vm->code_changed = true;
	vm_stop_soon(vm);
}

void code_pages_watch(struct vm *vm, guest_addr pc, uint32_t size)
{
	bool is_new = false;

	for (guest_addr at = pc & ~(guest_addr)(GUEST_PAGE - 1);
	     at < pc + size; at += GUEST_PAGE) {
		const struct mapping *map = memory_find(vm->memory, at);
		uint64_t page;

		/* Common pages are written through another mapping. */
		if (!map || !(map->region.prot & MAY_WRITE ||
			      map->region.common))
			continue;
		page = mapping_arena(map, at) >> GUEST_PAGE_SHIFT;
		if (code_page_is_watched(vm, page))
			continue;
		if (number_map_set(&vm->code_pages, page, 0))
			abort();	/* stale code would be executed */
		is_new = true;
	}
	/* A translation of an address that lets writes pass may be there. */
	if (is_new)
		tlb_flush(vm);
}

/* The engine calls this where it would begin to notice writes. */
typedef void notice_fn(void *cpu, uint64_t start, uint64_t size);
REPLACES(notice_fn, tlb_reset_dirty_by_vaddr_x86_64);
void tlb_reset_dirty_by_vaddr_x86_64(void *cpu, uint64_t start, uint64_t size)
{
	(void)cpu;
	(void)start;
	(void)size;
}
