/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.c - memory that translated code accesses directly
 *
 * A byte of the guest is at its address in the arena, and the host's protection
 * of each page is what the guest may do there: not more than its mapping's
 * permission, not what a first touch must tell, and no write where code must
 * not change unnoticed.  Whatever the guest may not do is a fault of the host.
 *
 * cprec itself stands for the kernel, and may do more: a page that it opens for
 * itself is lent to it, until the guest runs again.
 *
 * Where one place in the arena comes to have two addresses, or a thread must
 * not see what another may, guarding ends, and with it direct accesses.
 */
#include "vm/memory/memory_internal.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/array.h"
#include "formats/error.h"

/*
 * The host has 65,530 mappings as a rule (vm.max_map_count).  A replay that
 * needs more goes on without protecting anything (arena.c), but only the TLB
 * can do without; so it is asked before that.  A choice.
 */
#define GUARDED_MOST 8192

int memory_line_up(struct memory *memory, struct failure *why)
{
	int rc = arena_line_up(memory, why);

	memory->is_guarded = !rc && memory->is_linear;
	return rc;
}

bool memory_is_guarded(const struct memory *memory)
{
	return memory->is_guarded;
}

guest_addr memory_reach(const struct memory *memory)
{
	return memory->is_guarded ? LINEAR_SIZE : ADDRESS_LIMIT;
}

/* What the host may do with an open page. */
static int prot_of_state(unsigned state)
{
	if (state & PAGE_CLOSED)
		return PROT_NONE;
	if (state & PAGE_WRITTEN)
		return PROT_READ | PROT_WRITE;
	return state & PAGE_READ ? PROT_READ : PROT_NONE;
}

/* Whether some page of a mapping may be watched for writes. */
static bool may_be_watched(const struct memory *memory,
			   const struct mapping *map)
{
	return memory->code_pages.count && map->was_code;
}

/*
 * Where no touch is told, a block of pages opens as a whole, when one of them
 * is touched: so it is known which may be in use.
 */
static bool is_waiting(const struct memory *memory, uint64_t page)
{
	return !memory->tracks && !memory->block[page / PAGE_BLOCK];
}

/* What the guest may do with a page of a mapping, if it were touched. */
static int allowed(const struct memory *memory, const struct mapping *map,
		   uint64_t page)
{
	if (!map->region.prot || is_waiting(memory, page))
		return PROT_NONE;
	if (map->region.prot & MAY_WRITE &&
	    !(may_be_watched(memory, map) &&
	      number_map_find(&memory->code_pages, page)))
		return PROT_READ | PROT_WRITE;
	return PROT_READ;
}

/* What the host may do with a page while the guest runs. */
static int guarded(const struct memory *memory, const struct mapping *map,
		   uint64_t page)
{
	int prot = prot_of_state(page_state(memory, map, page));

	return memory->is_guarded ? prot & allowed(memory, map, page) : prot;
}

/* The first page behind one of which the same may not hold. */
static uint64_t alike_until(const struct memory *memory,
			    const struct mapping *map, uint64_t page,
			    uint64_t end)
{
	uint64_t block_end = (page / PAGE_BLOCK + 1) * PAGE_BLOCK;

	if (memory->state[page] & PAGE_OWN || may_be_watched(memory, map))
		return page + 1;
	if (!memory->tracks && end > block_end)
		end = block_end;
	return pages_next(memory, page, end, PAGE_OWN);
}

/* Protects pages of one mapping as the guest may use them now. */
static void guard(struct memory *memory, const struct mapping *map,
		  uint64_t page, uint64_t end)
{
	while (page < end) {
		int prot = guarded(memory, map, page);
		uint64_t next = alike_until(memory, map, page, end);

		while (next < end && prot == guarded(memory, map, next))
			next = alike_until(memory, map, next, end);
		arena_allow(memory, page << GUEST_PAGE_SHIFT,
			    (next - page) << GUEST_PAGE_SHIFT, prot);
		page = next;
	}
}

/* The same of what is there of a range of the arena. */
static void guard_range(struct memory *memory, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct mapping *map =
			arena_mapping(memory, start >> GUEST_PAGE_SHIFT);
		uint64_t stop = start + GUEST_PAGE;

		if (map) {
			stop = map->arena + mapping_size(map);
			if (stop > end)
				stop = end;
			guard(memory, map, start >> GUEST_PAGE_SHIFT,
			      stop >> GUEST_PAGE_SHIFT);
		}
		start = stop;
	}
}

void guard_open_block(struct memory *memory, uint64_t block)
{
	const uint64_t size = (uint64_t)PAGE_BLOCK << GUEST_PAGE_SHIFT;

	if (!memory->tracks)
		guard_range(memory, block * size, (block + 1) * size);
}

void guard_renew(struct memory *memory, guest_addr addr, uint64_t size)
{
	for (guest_addr at = addr; at < addr + size;) {
		const struct mapping *map = memory_find(memory, at);
		guest_addr stop = map->region.end;

		if (stop > addr + size)
			stop = addr + size;
		guard(memory, map, mapping_arena(map, at) >> GUEST_PAGE_SHIFT,
		      mapping_arena(map, stop) >> GUEST_PAGE_SHIFT);
		at = stop;
	}
}

/* Whether the guest may do that with all pages of a range of the arena. */
static bool is_allowed(struct memory *memory, uint64_t start, uint64_t size,
		       int prot)
{
	uint64_t page = start >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (size >> GUEST_PAGE_SHIFT);
	const struct mapping *map = arena_mapping(memory, page);

	if (!map || map->arena + mapping_size(map) < start + size)
		return false;
	if (!may_be_watched(memory, map))
		end = page + 1;
	while (page < end && !(prot & ~allowed(memory, map, page)))
		page++;
	return page == end;
}

void guard_note_lent(struct memory *memory, uint64_t start, uint64_t size)
{
	if (array_room(memory->lent, memory->lent_count, memory->lent_room))
		give_up("out of memory");	/* it would stay open */
	memory->lent[memory->lent_count++] =
		(struct extent){ .start = start, .end = start + size };
}

void guard_lend(struct memory *memory, uint64_t start, uint64_t size, int prot)
{
	if (!is_allowed(memory, start, size, prot))
		guard_note_lent(memory, start, size);
}

void guard_settle(struct memory *memory, size_t count)
{
	while (memory->lent_count > count) {
		struct extent lent = memory->lent[--memory->lent_count];

		while (memory->lent_count > count &&
		       memory->lent[memory->lent_count - 1].end == lent.start)
			lent.start = memory->lent[--memory->lent_count].start;
		guard_range(memory, lent.start, lent.end);
	}
}

void memory_settle(struct memory *memory)
{
	guard_settle(memory, 0);
	if (memory->asks && memory->count > GUARDED_MOST)
		memory_end_guarding(memory);
}

void guard_admit_host(struct memory *memory, const struct mapping *map,
		      uint64_t at, uint64_t size, bool write)
{
	int need = write ? PROT_READ | PROT_WRITE : PROT_READ;
	uint64_t first = at >> GUEST_PAGE_SHIFT;
	uint64_t last = (at + size - 1) >> GUEST_PAGE_SHIFT;

	for (uint64_t page = first; page <= last; page++)
		if (need & ~allowed(memory, map, page))
			arena_protect(memory, page << GUEST_PAGE_SHIFT,
				      GUEST_PAGE, PAGE_READ | PAGE_WRITTEN);
}

bool memory_watch_code(struct memory *memory, uint64_t page, bool is_watched)
{
	if (is_watched && number_map_set(&memory->code_pages, page, 0))
		return false;
	if (!is_watched)
		number_map_remove(&memory->code_pages, page);
	if (memory->is_guarded)
		guard_range(memory, page << GUEST_PAGE_SHIFT,
			    (page + 1) << GUEST_PAGE_SHIFT);
	return true;
}

void memory_forget_code(struct memory *memory)
{
	number_map_release(&memory->code_pages);
	memset(&memory->code_pages, 0, sizeof(memory->code_pages));
	for (size_t i = 0; memory->is_guarded && i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);

		guard_renew(memory, map->region.start, mapping_size(map));
	}
}

void memory_end_guarding(struct memory *memory)
{
	if (!memory->is_guarded)
		return;
	memory->is_guarded = false;
	memory->lent_count = 0;
	for (size_t i = 0; i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);
		uint64_t page = map->arena >> GUEST_PAGE_SHIFT;
		uint64_t end = page + (mapping_size(map) >> GUEST_PAGE_SHIFT);

		while (page < end) {
			unsigned state = page_state(memory, map, page);
			uint64_t next = page + 1;

			if (!(memory->state[page] & PAGE_OWN))
				next = pages_next(memory, next, end, PAGE_OWN);
			arena_allow(memory, page << GUEST_PAGE_SHIFT,
				    (next - page) << GUEST_PAGE_SHIFT,
				    prot_of_state(state));
			page = next;
		}
	}
}

/* ------- moving ------- */

/*
 * The host moves what it has as one mapping; what differs in protection is
 * several, which only trying tells.
 */
static bool move_host(struct memory *memory, uint64_t from, uint64_t to,
		      uint64_t size)
{
	uint64_t half = size / 2 & ~(uint64_t)(GUEST_PAGE - 1);

	if (mremap(memory->arena + from, size, size,
		   MREMAP_MAYMOVE | MREMAP_FIXED,
		   memory->arena + to) != MAP_FAILED)
		return true;
	return half && move_host(memory, from, to, half) &&
	       move_host(memory, from + half, to + half, size - half);
}

int guard_move(struct memory *memory, guest_addr from, guest_addr to,
	       uint64_t size)
{
	uint64_t old = from >> GUEST_PAGE_SHIFT, new = to >> GUEST_PAGE_SHIFT;
	uint64_t count = size >> GUEST_PAGE_SHIFT, page = old;

	guard_settle(memory, 0);
	if (!move_host(memory, from, to, size))
		give_up("the host refuses to move memory");
	/* What has been moved away is to be kept from others. */
	arena_reserve_again(memory, from, size);
	while ((page = pages_next(memory, page, old + count, PAGE_OWN)) <
	       old + count) {
		memory->state[new + (page - old)] = memory->state[page];
		memory->doubt[new + (page - old)] = memory->doubt[page];
		page_note(memory, new + (page - old));
		page++;
	}
	for (size_t i = 0; i < memory->shared_count; i++)
		if (memory->shared[i] - old < count)
			memory->shared[i] += new - old;
	for (page = old; page < old + count; page++)
		if (memory->block[page / PAGE_BLOCK])
			block_note(memory, (new + (page - old)) / PAGE_BLOCK);
	pages_forget(memory, old, count);
	return 0;
}
