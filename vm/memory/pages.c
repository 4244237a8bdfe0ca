/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.c - what is known of each page of the arena */
#include "vm/memory/memory_internal.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

/*
 * In a replay, a range of at least this many pages that changes its state
 * becomes a mapping of its own, rather than that each page gets a state: the
 * time for a large range is bounded, and look-ups have a few more mappings to
 * search.  A recording does not do so: its mappings are those that the guest's
 * kernel would have.
 */
#define SEPARATE_PAGES 256

#define EACH(bits) ((bits) * UINT64_C(0x0101010101010101))

uint8_t *page_own(struct memory *memory, const struct mapping *map,
		  uint64_t page)
{
	uint8_t *state = &memory->state[page];

	if (!(*state & PAGE_OWN)) {
		*state = map->initial | PAGE_OWN;
		if (map->initial & PAGE_DOUBTFUL)
			memory->doubt[page] = map->doubt;
		page_note(memory, page);
	}
	return state;
}

/* ------- finding those that have one ------- */

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* The first page at or above `page` that is in a block with anything in it. */
static uint64_t next_block(const struct memory *memory, uint64_t page,
			   uint64_t end)
{
	uint64_t block = page / PAGE_BLOCK;
	uint64_t last = (end - 1) / PAGE_BLOCK;

	if (memory->block[block])
		return page;
	while (block <= last && !memory->block[block]) {
		if (block % BLOCK_FIELD == 0 &&
		    !memory->field[block / BLOCK_FIELD])
			block += BLOCK_FIELD;
		else if (block % 8 == 0 && last - block >= 8 &&
			 !word_at(memory->block + block))
			block += 8;
		else
			block++;
	}
	return block <= last ? block * PAGE_BLOCK : end;
}

uint64_t pages_next(const struct memory *memory, uint64_t page, uint64_t end,
		    unsigned bits)
{
	const uint8_t *state = memory->state;

	while (page < end) {
		if (page % PAGE_BLOCK == 0 || !memory->block[page / PAGE_BLOCK])
			page = next_block(memory, page, end);
		if (page >= end)
			break;
		if (state[page] & bits)
			return page;
		if (page % 8 == 0 && end - page > 8 &&
		    !(word_at(state + page) & EACH(bits)))
			page += 8;
		else
			page++;
	}
	return end;
}

uint64_t memory_next_touched(const struct memory *memory, uint64_t page,
			     uint64_t end)
{
	while (page < end) {
		guest_addr addr = page << GUEST_PAGE_SHIFT;
		const struct mapping *map =
			memory_find((struct memory *)memory, addr);
		uint64_t first, count, found;

		if (!map)
			return end;
		first = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;
		count = (map->region.end - addr) >> GUEST_PAGE_SHIFT;
		if (count > end - page)
			count = end - page;
		found = next_block(memory, first, first + count) - first;
		page += found;
		if (found < count)
			break;
	}
	return page;
}

/* Calls `change` for stretches of at most a block that may hold anything. */
static void each_block(struct memory *memory, uint64_t page, uint64_t end,
		       void (*change)(uint8_t *state, size_t count))
{
	while (page < end && (page = next_block(memory, page, end)) < end) {
		uint64_t stop = (page / PAGE_BLOCK + 1) * PAGE_BLOCK;

		if (stop > end)
			stop = end;
		change(memory->state + page, stop - page);
		page = stop;
	}
}

static void forget(uint8_t *state, size_t count)
{
	memset(state, 0, count);
}

void pages_forget(struct memory *memory, uint64_t page, uint64_t count)
{
	uint64_t end = page + count;
	uint64_t first = (page + PAGE_BLOCK - 1) / PAGE_BLOCK;

	each_block(memory, page, end, forget);
	if (end / PAGE_BLOCK > first)
		memset(memory->block + first, 0, end / PAGE_BLOCK - first);
}

/* ------- changing many ------- */

/* Remembers what was touched in the segment that ends. */
static void close_states(uint8_t *state, size_t count)
{
	const unsigned kept = PAGE_OWN | PAGE_CLOSED;
	const unsigned moved = PAGE_READ | PAGE_WRITTEN;

	for (size_t i = 0; i < count; i++)
		state[i] = (uint8_t)((state[i] & kept) |
				     (state[i] & moved) << 4);
}

void pages_end_segment(struct memory *memory)
{
	each_block(memory, 0, memory->used >> GUEST_PAGE_SHIFT, close_states);
}

/* Whether a part of a mapping gets its state as a mapping of its own. */
static bool is_separable(const struct memory *memory, const struct mapping *map,
			 uint64_t size)
{
	return size == mapping_size(map) ||
	       (memory->observer.supply &&
		size >= (uint64_t)SEPARATE_PAGES << GUEST_PAGE_SHIFT);
}

/* The state of a page that becomes doubtful. */
static uint8_t doubt_state(unsigned state, bool keep)
{
	if (!keep || state & PAGE_DOUBTFUL)
		state &= ~(unsigned)(PAGE_ABSENT | PAGE_KEPT);
	else
		state |= PAGE_KEPT;
	return (uint8_t)(state | PAGE_DOUBTFUL);
}

static void doubt_own(struct memory *memory, uint64_t page, uint64_t doubt,
		      bool keep)
{
	memory->state[page] = doubt_state(memory->state[page], keep);
	if (!memory->tracks)
		memory->state[page] &= (uint8_t)~PAGE_SUPPLIED;
	memory->doubt[page] = doubt;
}

int pages_doubt(struct memory *memory, struct mapping *map, guest_addr addr,
		uint64_t size, uint64_t doubt, bool keep)
{
	uint64_t at = mapping_arena(map, addr);
	uint64_t page = at >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (size >> GUEST_PAGE_SHIFT);

	if (is_separable(memory, map, size)) {
		map = memory_separate(memory, addr, size);
		if (!map)
			return ERR_NO_MEMORY;
		map->initial = doubt_state(map->initial, keep);
		map->doubt = doubt;
		for (; (page = pages_next(memory, page, end, PAGE_OWN)) < end;
		     page++)
			doubt_own(memory, page, doubt, keep);
	}
	for (; page < end; page++) {
		page_own(memory, map, page);
		doubt_own(memory, page, doubt, keep);
	}
	arena_protect(memory, at, size, 0);
	return 0;
}

/*
 * Clears a page's doubt, and that it is absent.  That does not make it
 * accessible: it stays closed until touched.
 */
static void clear_own(struct memory *memory, uint64_t page)
{
	uint8_t *state = &memory->state[page];

	if (!(*state & PAGE_CLOSED))
		return;
	*state &= (uint8_t)~(PAGE_CLOSED | PAGE_KEPT | PAGE_READ |
			     PAGE_WRITTEN);
	if (!memory->tracks)
		*state |= PAGE_READ | PAGE_WRITTEN;
}

int pages_clear(struct memory *memory, struct mapping *map, guest_addr addr,
		uint64_t size)
{
	uint64_t at = mapping_arena(map, addr);
	uint64_t page = at >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (size >> GUEST_PAGE_SHIFT);

	if (map->initial & PAGE_CLOSED && is_separable(memory, map, size)) {
		map = memory_separate(memory, addr, size);
		if (!map)
			return ERR_NO_MEMORY;
		map->initial = memory->tracks ? 0 : PAGE_READ | PAGE_WRITTEN;
	}
	if (!(map->initial & PAGE_CLOSED)) {
		for (; (page = pages_next(memory, page, end, PAGE_CLOSED)) <
		       end; page++)
			clear_own(memory, page);
	}
	for (; page < end; page++) {
		page_own(memory, map, page);
		clear_own(memory, page);
	}
	if (!memory->tracks)
		arena_protect(memory, at, size, PAGE_READ | PAGE_WRITTEN);
	return 0;
}

void memory_set_absent(struct memory *memory)
{
	memory->opened = memory->stayed = 0;
	for (size_t i = 0; i < memory->count; i++) {
		struct mapping *map = mapping_at(memory, i);
		uint64_t page = map->arena >> GUEST_PAGE_SHIFT;
		uint64_t end = page + (mapping_size(map) >> GUEST_PAGE_SHIFT);
		bool doubtful = map->initial & PAGE_DOUBTFUL;

		if (map->region.common)
			continue;
		for (; (page = pages_next(memory, page, end, PAGE_OWN)) < end;
		     page++)
			if (!(memory->state[page] & PAGE_DOUBTFUL))
				memory->state[page] =
					doubtful ? PAGE_OWN | PAGE_ABSENT : 0;
		if (!doubtful)
			map->initial = PAGE_ABSENT;
		map->shift = 0;
		arena_protect(memory, map->arena, mapping_size(map), 0);
	}
}

/* ------- starting again ------- */

/* Each is one or two mappings of the host, of which some must be left. */
#define STAY_MOST 4000

/* Who knows which pages would be supplied with what they hold. */
struct stayers {
	bool (*stays)(void *context, uint64_t page);
	void *context;
};

static bool may_stay(const struct mapping *map)
{
	return !map->may_change && !map->shift &&
	       map->region.kind != REGION_SHARED;
}

static bool page_stays(const struct memory *memory, const struct mapping *map,
		       uint64_t page, const struct stayers *stayers)
{
	unsigned state = memory->state[page];

	return state & PAGE_SUPPLIED && !(state & PAGE_CLOSED) &&
	       stayers->stays(stayers->context, mapping_page(map, page));
}

/* The first page at or above `page` that stays; `end` if none does. */
static uint64_t next_stayer(const struct memory *memory,
			    const struct mapping *map, uint64_t page,
			    uint64_t end, const struct stayers *stayers)
{
	if (!may_stay(map) || memory->stayed >= STAY_MOST)
		return end;
	while ((page = pages_next(memory, page, end, PAGE_SUPPLIED)) < end &&
	       !page_stays(memory, map, page, stayers))
		page++;
	return page;
}

/*
 * A file that is mapped in the same place has the same code, as a rule; what
 * programs generate has not.
 */
static void note_generated(struct memory *memory, const struct mapping *map,
			   uint64_t page, uint64_t end)
{
	if (!map->was_code || map->may_change ||
	    map->region.kind != REGION_ANON)
		return;
	while ((page = pages_next(memory, page, end, PAGE_READ)) < end) {
		memory_note_stale(memory, map,
				  mapping_page(map, page) << GUEST_PAGE_SHIFT,
				  GUEST_PAGE);
		page++;
	}
}

/* Pages of a mapping do not stay. */
static void leave(struct memory *memory, const struct mapping *map,
		  uint64_t page, uint64_t end)
{
	bool is_closed = map->initial & PAGE_CLOSED &&
			 pages_next(memory, page, end, PAGE_READ) == end;

	if (page == end)
		return;
	note_generated(memory, map, page, end);
	pages_forget(memory, page, end - page);
	if (!is_closed)
		arena_protect(memory, page << GUEST_PAGE_SHIFT,
			      (end - page) << GUEST_PAGE_SHIFT, 0);
}

static void restart(struct memory *memory, struct mapping *map,
		    const struct stayers *stayers)
{
	uint64_t page = map->arena >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (mapping_size(map) >> GUEST_PAGE_SHIFT);

	if (map->may_change || map->region.kind == REGION_SHARED)
		memory_note_stale(memory, map, map->region.start,
				  mapping_size(map));
	while (page < end) {
		uint64_t next = next_stayer(memory, map, page, end, stayers);

		leave(memory, map, page, next);
		if (next == end)
			break;
		memory->stayed++;
		for (page = next + 1; page < end; page++)
			if (!page_stays(memory, map, page, stayers))
				break;
	}
	map->initial = PAGE_ABSENT;
	map->doubt = 0;
	map->shift = 0;
}

void memory_restart(struct memory *memory,
		    bool (*stays)(void *context, uint64_t page), void *context)
{
	const struct stayers stayers = { stays, context };

	memory->opened = memory->stayed = 0;
	for (size_t i = 0; i < memory->count; i++)
		if (!mapping_at(memory, i)->region.common)
			restart(memory, mapping_at(memory, i), &stayers);
	memory->generation++;
}

/* ------- doubts ------- */

uint64_t memory_doubt(const struct memory *memory)
{
	return memory->newest_doubt;
}

void memory_set_doubt(struct memory *memory, uint64_t newest)
{
	memory->newest_doubt = newest;
}

uint64_t memory_page_doubt(const struct memory *memory, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find((struct memory *)memory, addr);

	if (!map)
		return 0;
	map = mapping_home((struct memory *)memory, map, &addr);
	return page_doubt(memory, map,
			  mapping_arena(map, addr) >> GUEST_PAGE_SHIFT);
}

/* Shared pages become doubtful often, and change seldom. */
static void doubt_code(struct memory *memory, struct mapping *map,
		       guest_addr addr, uint64_t size)
{
	uint64_t page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (size >> GUEST_PAGE_SHIFT);

	if (map->region.kind != REGION_SHARED) {
		memory_note_changed(memory, map, addr, size);
		return;
	}
	for (; map->was_code && page < end; page++)
		code_doubt(memory, map, page);
}

/* How pages become doubtful. */
enum doubting {
	DOUBT_NEWLY,
	DOUBT_KEEPING,		/* what they held that was known */
	DOUBT_AGAIN,		/* as they were before */
};

static int set_doubtful(struct memory *memory, guest_addr addr, uint64_t size,
			uint64_t doubt, enum doubting how)
{
	guest_addr end = addr + size;

	if (!memory_is_mapped(memory, addr, size))
		return ERR_NOT_FOUND;
	if (doubt > memory->newest_doubt)
		memory->newest_doubt = doubt;
	while (addr < end) {
		struct mapping *map = memory_find(memory, addr);
		guest_addr stop = map->region.end < end ? map->region.end : end;
		guest_addr from = addr;
		int rc;

		map = mapping_home(memory, map, &from);
		if (stop - addr > map->region.end - from)
			stop = addr + (map->region.end - from);
		if (how != DOUBT_AGAIN)
			doubt_code(memory, map, from, stop - addr);
		rc = pages_doubt(memory, map, from, stop - addr, doubt,
				 how == DOUBT_KEEPING);
		if (rc)
			return rc;
		addr = stop;
	}
	return 0;
}

int memory_set_doubtful(struct memory *memory, guest_addr addr, uint64_t size,
			uint64_t doubt)
{
	return set_doubtful(memory, addr, size, doubt, DOUBT_NEWLY);
}

int memory_restore_doubt(struct memory *memory, guest_addr addr, uint64_t size,
			 uint64_t doubt)
{
	return set_doubtful(memory, addr, size, doubt, DOUBT_AGAIN);
}

int memory_doubt_kept(struct memory *memory, guest_addr addr, uint64_t size,
		      uint64_t doubt)
{
	return set_doubtful(memory, addr, size, doubt, DOUBT_KEEPING);
}

/* Pages of one doubt, as far as they have been seen. */
struct range {
	uint64_t page, count, doubt;
};

/* The range of one doubt that begins at a guest page of a mapping. */
static struct range range_at(const struct memory *memory,
			     const struct mapping *map, uint64_t page,
			     uint64_t end)
{
	uint64_t doubt = page_doubt(memory, map, page), next = page;
	unsigned bits = map->initial & PAGE_DOUBTFUL ? PAGE_OWN : PAGE_DOUBTFUL;

	do {
		if (memory->state[next] & bits)
			next++;
		else	/* all like this one up to the next that may differ */
			next = pages_next(memory, next, end, bits);
	} while (next < end && page_doubt(memory, map, next) == doubt);
	return (struct range){ mapping_page(map, page), next - page, doubt };
}

void memory_each_doubt(struct memory *memory,
		       void (*visit)(void *context, uint64_t page,
				     uint64_t count, uint64_t doubt),
		       void *context)
{
	struct range last = { 0 };

	for (size_t i = 0; i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);
		uint64_t page = map->arena >> GUEST_PAGE_SHIFT;
		uint64_t end = page + (mapping_size(map) >> GUEST_PAGE_SHIFT);

		while (!map->region.common && page < end) {
			struct range range = range_at(memory, map, page, end);

			page += range.count;
			if (range.doubt == last.doubt &&
			    range.page == last.page + last.count) {
				last.count += range.count;
				continue;
			}
			if (last.doubt)
				visit(context, last.page, last.count,
				      last.doubt);
			last = range;
		}
	}
	if (last.doubt)
		visit(context, last.page, last.count, last.doubt);
}
