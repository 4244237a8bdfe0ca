/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracking.c - which pages are open when a segment begins
 *
 * Closing a page and opening it again takes the host longer than hashing 30, as
 * both split and join its mappings.  So what was touched in a segment stays
 * open in the next, and is told as touched: pages that have changed, and pages
 * that were read, but for one time in READ_STAYS.  With 16, cc1 is recorded
 * with a third of the faults, and half of the kernel's part of the time.
 * STAY_MOST stretches of pages may stay: each is a mapping of the host, and some
 * must be left for touch.c.
 */
#include "vm/memory/memory_internal.h"

#include <assert.h>

#include "vm/memory/views.h"

#define READ_STAYS 16
#define READ_PAGES 64		/* as many neighbours are closed together */
#define STAY_MOST 4000

/*
 * How a page was opened in the segment that ends, as bits of its state; 0 if it
 * is closed.  What is only WRITTEN held at its end what it held before.
 */
static unsigned was_open(const struct memory *memory, uint64_t page)
{
	unsigned state = memory->state[page];

	return state & PAGE_CLOSED ? 0 : state & PAGE_WAS_TOUCHED_BEFORE;
}

/*
 * Whether a page that was open stays so: what was changed will be again, as a
 * rule.  What was read stays for a while, since nothing tells whether it is
 * read again.
 */
static bool stays(const struct memory *memory, const struct mapping *map,
		  uint64_t page)
{
	unsigned how = was_open(memory, page);

	if (how & PAGE_WAS_WRITTEN_BEFORE)
		return how & PAGE_WAS_READ_BEFORE &&
		       map->region.prot & MAY_WRITE;
	return (page / READ_PAGES + memory->arms) % READ_STAYS;
}

/* The first page behind one that was not open so, or does not stay alike. */
static uint64_t alike_until(const struct memory *memory,
			    const struct mapping *map, uint64_t page)
{
	uint64_t end = (map->arena + mapping_size(map)) >> GUEST_PAGE_SHIFT;
	unsigned how = was_open(memory, page);
	bool does_stay = stays(memory, map, page);

	do
		page++;
	while (page < end && was_open(memory, page) == how &&
	       stays(memory, map, page) == does_stay);
	return page;
}

/* Closes the pages [page, end). */
static void close_pages(struct memory *memory, uint64_t page, uint64_t end)
{
	arena_protect(memory, page << GUEST_PAGE_SHIFT,
		      (end - page) << GUEST_PAGE_SHIFT, 0);
	for (; page < end; page++)
		if (was_open(memory, page) == PAGE_WAS_WRITTEN_BEFORE)
			memory->state[page] ^= PAGE_WAS_TOUCHED_BEFORE;
}

/* They are open, and are told as touched. */
static void keep_open(struct memory *memory, const struct mapping *map,
		      uint64_t page, uint64_t end)
{
	bool write = was_open(memory, page) & PAGE_WAS_WRITTEN_BEFORE;

	for (; page < end; page++)
		page_mark(memory, map, page, write);
	memory->opened++;
}

uint64_t memory_touches(const struct memory *memory)
{
	return memory->touches;
}

void memory_arm(struct memory *memory)
{
	uint64_t end = memory->used >> GUEST_PAGE_SHIFT, page = 0, next;

	assert(memory->tracks);
	if (memory->views) {
		views_reset(memory->views);
		memory->generation++;	/* first touches are to be seen */
	}
	pages_end_segment(memory);
	memory->opened = 0;
	memory->arms++;
	for (; (page = pages_next(memory, page, end,
				  PAGE_WAS_TOUCHED_BEFORE)) < end;
	     page = next) {
		const struct mapping *map = arena_mapping(memory, page);

		next = page + 1;
		if (!map || !was_open(memory, page))
			continue;
		next = alike_until(memory, map, page);
		if (stays(memory, map, page) && memory->opened < STAY_MOST)
			keep_open(memory, map, page, next);
		else
			close_pages(memory, page, next);
	}
}

void memory_found_unchanged(struct memory *memory, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find(memory, addr);

	if (!map)
		return;
	map = mapping_home(memory, map, &addr);
	page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;
	if (memory->state[page] & PAGE_WRITTEN)
		memory->state[page] &= (uint8_t)~PAGE_READ;
}
