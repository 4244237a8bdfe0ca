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
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_internal.h"

#define FREE UINT64_MAX

static uint64_t *find_slot(uint64_t *slots, size_t room, uint64_t page)
{
	size_t at = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
		    (room - 1);

	while (slots[at] != FREE && slots[at] != page)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static void grow(struct code_pages *pages)
{
	size_t room = pages->room ? pages->room * 2 : 256;
	uint64_t *slots = malloc(room * sizeof(*slots));

	if (!slots)
		abort();	/* stale code would be executed */
	memset(slots, 0xff, room * sizeof(*slots));
	for (size_t i = 0; i < pages->room; i++)
		if (pages->slots[i] != FREE)
			*find_slot(slots, room, pages->slots[i]) =
				pages->slots[i];
	free(pages->slots);
	pages->slots = slots;
	pages->room = room;
}

bool code_page_is_watched(const struct vm *vm, uint64_t page)
{
	const struct code_pages *pages = &vm->code_pages;

	return pages->count &&
	       *find_slot(pages->slots, pages->room, page) == page;
}

/* Takes a page out; those that stood behind it move up. */
static void forget(struct code_pages *pages, uint64_t page)
{
	size_t mask = pages->room - 1;
	size_t at = (size_t)(find_slot(pages->slots, pages->room, page) -
			     pages->slots);

	pages->slots[at] = FREE;
	pages->count--;
	for (at = (at + 1) & mask; pages->slots[at] != FREE;
	     at = (at + 1) & mask) {
		uint64_t moved = pages->slots[at];

		pages->slots[at] = FREE;
		*find_slot(pages->slots, pages->room, moved) = moved;
	}
}

void code_page_written(struct vm *vm, const struct mapping *map,
		       guest_addr addr)
{
	guest_addr start = addr & ~(guest_addr)(GUEST_PAGE - 1);

	forget(&vm->code_pages, mapping_arena(map, addr) >> GUEST_PAGE_SHIFT);
	memory_note_stale(vm->memory, map, start, GUEST_PAGE);
	vm->code_changed = true;
	vm_stop_soon(vm);
}

void code_pages_watch(struct vm *vm, guest_addr pc, uint32_t size)
{
	struct code_pages *pages = &vm->code_pages;
	bool is_new = false;

	for (guest_addr at = pc & ~(guest_addr)(GUEST_PAGE - 1);
	     at < pc + size; at += GUEST_PAGE) {
		const struct mapping *map = memory_find(vm->memory, at);
		uint64_t page;

		if (!map || !(map->region.prot & MAY_WRITE))
			continue;
		page = mapping_arena(map, at) >> GUEST_PAGE_SHIFT;
		if (code_page_is_watched(vm, page))
			continue;
		if (pages->count * 4 >= pages->room * 3)
			grow(pages);
		*find_slot(pages->slots, pages->room, page) = page;
		pages->count++;
		is_new = true;
	}
	/* A translation of an address that lets writes pass may be there. */
	if (is_new)
		tlb_flush(vm);
}
