/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.c - pages that the engine's TLB does not have, and those with code
 *
 * The engine notices the first write to a page that has translations, drops
 * those that the write hits, and does not notice further writes while others
 * are left (2.1.1; later versions notice all, at several times the price of
 * every store).  So a page with translations that the guest may write to is
 * watched: the TLB does not let writes pass.  The first write is noticed, all
 * translations of the page are dropped before the next block, and the page is
 * watched again when a new one is made.
 */
#include "vm/memory/views.h"

#include "formats/error.h"
#include "vm/processor/processor.h"

/* ------- pages with code ------- */

bool code_page_is_watched(const struct vm *vm, uint64_t page)
{
	return number_map_find(&vm->memory->code_pages, page) != NULL;
}

static void code_page_written(struct vm *vm, const struct mapping *map,
			      guest_addr addr)
{
	guest_addr start = addr & ~(guest_addr)(GUEST_PAGE - 1);

	memory_watch_code(vm->memory,
			  mapping_arena(map, addr) >> GUEST_PAGE_SHIFT, false);
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
		/* Stale code would be executed. */
		if (!memory_watch_code(vm->memory, page, true))
			give_up("out of memory");
		is_new = true;
	}
	/* A translation of an address that lets writes pass may be there. */
	if (is_new)
		tlb_flush(vm, true);
}

/* ------- misses ------- */

/*
 * The first touch of a page in a thread's turn, or its first write; whether
 * writes may go unseen from here on.
 */
static bool touch(struct memory *memory, const struct mapping *map,
		  uint64_t paddr, bool write)
{
	uint64_t page = paddr >> GUEST_PAGE_SHIFT;

	arena_touch(memory, map, page, write);
	return views_touch(memory, page, write);
}

/* Whether writes to the page need not be noticed, from here on. */
static bool may_pass(struct vm *vm, const struct mapping *map, guest_addr addr,
		     bool write)
{
	uint64_t page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;

	if (!code_page_is_watched(vm, page))
		return true;
	if (write)
		code_page_written(vm, map, addr);
	return write;
}

/*
 * The code of the page may have changed: an attempt to execute it is a fault,
 * which ask_for_code() answers.  Returns whether it is another access.
 */
static bool leave_out_code(struct vm *vm, enum vm_access access,
			   struct engine_page *page)
{
	page->prot &= ~(unsigned)MAY_EXEC;
	if (access != ACCESS_FETCH)
		return true;
	vm->faulted = vm->code_doubted = true;
	vm->doubted_page = page->paddr >> GUEST_PAGE_SHIFT;
	return false;
}

/* The guest may access the page: tells of it, and says what the TLB may let
 * pass from here on. */
static bool answer(struct vm *vm, const struct mapping *map, guest_addr addr,
		   enum vm_access access, struct engine_page *out)
{
	bool write = access == ACCESS_WRITE;

	out->prot = map->region.prot | MAY_READ;
	tlb_missed(vm);
	if (code_is_doubted(vm->memory, out->paddr >> GUEST_PAGE_SHIFT) &&
	    !leave_out_code(vm, access, out))
		return false;
	if (vm->memory->asks)
		arena_touch(vm->memory, map, out->paddr >> GUEST_PAGE_SHIFT,
			    write);
	if (!may_pass(vm, map, addr, write))
		out->prot &= ~(unsigned)MAY_WRITE;
	if (vm->memory->views && !touch(vm->memory, map, out->paddr, write))
		out->prot &= ~(unsigned)MAY_WRITE;
	return true;
}

bool pages_miss(void *context, guest_addr addr, enum vm_access access,
		struct engine_page *out)
{
	struct vm *vm = context;
	struct mapping *map = memory_find(vm->memory, addr);
	unsigned need = access == ACCESS_WRITE ? MAY_WRITE
			: access == ACCESS_FETCH
				? MAY_EXEC
				: MAY_READ | MAY_WRITE | MAY_EXEC;

	if (map && (map->region.prot & need || vm->probing)) {
		out->paddr = mapping_arena(map, addr);
		out->prot = MAY_READ | MAY_WRITE | MAY_EXEC;
		page_note(vm->memory, out->paddr >> GUEST_PAGE_SHIFT);
		return vm->probing || answer(vm, map, addr, access, out);
	}
	/* What was translated of memory that is gone is dropped by its place. */
	if (vm->probing && is_in_line(vm->memory, addr, GUEST_PAGE)) {
		out->paddr = addr & ~(guest_addr)(GUEST_PAGE - 1);
		out->prot = MAY_READ | MAY_WRITE | MAY_EXEC;
		return true;
	}
	/* The engine itself looks around the address it runs "until". */
	if (access == ACCESS_FETCH &&
	    addr - (engine_never(vm->engine) - 16 * GUEST_PAGE) <
		    32 * GUEST_PAGE)
		return false;
	vm->faulted = true;
	vm->fault_page = addr;
	vm->fault_mapped = map != NULL;
	vm->fault_access = access;
	return false;
}
