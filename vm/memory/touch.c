/* SPDX-License-Identifier: GPL-2.0-or-later */
/* touch.c - what happens when a page is touched, by the host or the guest */
#include "vm/memory/memory_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/memory/family.h"
#include "vm/memory/views.h"

/*
 * Each page that is opened on its own splits a host mapping, of which there
 * are at most 65,530 (vm.max_map_count).  Opening one page in the middle of a
 * closed range makes two more, so 14,000 use less than half of them; the rest
 * is for the guest's own mappings and for clusters.  After this many since
 * memory_arm(), whole clusters are opened, and told as touched.  Larger
 * clusters would need fewer mappings and make the index coarser.
 */
#define OPENED_MOST 14000
#define CLUSTER_PAGES 64

/*
 * How many neighbours a touch opens along, each way.  More save faults; fewer
 * tell less of pages that are not touched after all.  A choice.
 */
#define RUN_PAGES 16

/*
 * A replay opens neighbours that it expects to be touched.  After each 256
 * touches it reaches twice as far, up to 1024 pages.  So questions that
 * need few pages fetch few, and others soon fetch many at a time.
 */
#define REACH_DOUBLES 256
#define REACH_MOST 6

static void note_shared(struct memory *memory, uint64_t page)
{
	if (array_room(memory->shared, memory->shared_count,
			memory->shared_room))
		give_up("out of memory");	/* changes would be missed */
	memory->shared[memory->shared_count++] = page;
}

static uint8_t *host_page(const struct memory *memory, uint64_t page)
{
	return memory->arena + (page << GUEST_PAGE_SHIFT);
}

/* The guest page that an absent page is supplied as. */
static uint64_t origin(const struct mapping *map, uint64_t page)
{
	return mapping_page(map, page) + (uint64_t)map->shift;
}

/* The pages [first, end) of the arena. */
struct span {
	uint64_t first, end;
};

/* Notes that pages are in use, before they are opened: a block that comes into
 * use is protected as the guest may use it. */
static void note(struct memory *memory, struct span span)
{
	for (uint64_t page = span.first; page < span.end;
	     page = (page / PAGE_BLOCK + 1) * PAGE_BLOCK)
		page_note(memory, page);
}

/* Has absent pages filled in, which are open already. */
static void supply(struct memory *memory, const struct mapping *map,
		   struct span span)
{
	for (uint64_t page = span.first; page < span.end; page++) {
		uint8_t *state = page_own(memory, map, page);

		*state &= (uint8_t)~PAGE_ABSENT;
		/* Elsewhere, it is supplied as another page. */
		if (!memory->tracks && !map->shift && !(*state & PAGE_DOUBTFUL))
			*state |= PAGE_SUPPLIED;
	}
	memory->observer.supply(memory->observer.context,
				origin(map, span.first),
				span.end - span.first,
				host_page(memory, span.first));
}

static void resolve(struct memory *memory, const struct mapping *map,
		    uint64_t page)
{
	const struct memory_observer *observer = &memory->observer;
	uint64_t doubt = page_doubt(memory, map, page);

	*page_own(memory, map, page) &= (uint8_t)~(PAGE_CLOSED | PAGE_KEPT);
	if (observer->resolve)
		observer->resolve(observer->context, mapping_page(map, page),
				  doubt, host_page(memory, page));
	if (memory->views)
		views_resolved(memory, page);
}

/* Opens a doubtful or absent page, and has it resolved or supplied. */
static void fill(struct memory *memory, const struct mapping *map,
		 uint64_t page)
{
	unsigned state = page_state(memory, map, page);

	if (state & PAGE_DOUBTFUL && memory->family &&
	    mapping_is_shared(map)) {
		family_enter(memory->family);
		note_shared(memory, page);
	}
	arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
		      PAGE_READ | PAGE_WRITTEN);
	if (state & PAGE_DOUBTFUL)
		resolve(memory, map, page);
	else
		supply(memory, map, (struct span){ page, page + 1 });
}

void page_mark(struct memory *memory, const struct mapping *map, uint64_t page,
	       bool write)
{
	const struct memory_observer *observer = &memory->observer;
	uint8_t *state = page_own(memory, map, page);
	unsigned before = *state;

	*state = (uint8_t)(before | PAGE_READ | (write ? PAGE_WRITTEN : 0));
	if (!memory->tracks)
		return;
	if (!(before & PAGE_READ) && !write && observer->first_read)
		observer->first_read(observer->context,
				     mapping_page(map, page));
	if (!(before & PAGE_WRITTEN) && write)
		observer->first_write(observer->context,
				      mapping_page(map, page));
}

static bool is_closed(const struct memory *memory, const struct mapping *map,
		      uint64_t page)
{
	return page_state(memory, map, page) & PAGE_CLOSED;
}

static void touch_page(struct memory *memory, const struct mapping *map,
		       uint64_t page, bool write)
{
	if (is_closed(memory, map, page))
		fill(memory, map, page);
	page_mark(memory, map, page, write || !memory->tracks);
	arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
		      memory->state[page]);
}

/* The pages before and after one, as far as they are in its mapping. */
static struct span around(const struct mapping *map, uint64_t page,
			  uint64_t before, uint64_t after)
{
	uint64_t start = map->arena >> GUEST_PAGE_SHIFT;
	uint64_t stop = start + (mapping_size(map) >> GUEST_PAGE_SHIFT);

	return (struct span){
		page - start > before ? page - before : start,
		stop - page > after ? page + after : stop,
	};
}

/*
 * Touches all of the cluster that belongs to the page's mapping.  A replay
 * leaves doubtful pages alone: the recording has only those that it names.
 * Processes that share memory do the same.
 */
static void touch_cluster(struct memory *memory, const struct mapping *map,
			  uint64_t page, bool write)
{
	uint64_t offset = page % CLUSTER_PAGES;
	struct span span = around(map, page, offset, CLUSTER_PAGES - offset);
	bool knows = memory->tracks && !map->alias;

	for (uint64_t other = span.first; other < span.end; other++)
		if (knows ||
		    !(page_state(memory, map, other) & PAGE_DOUBTFUL))
			touch_page(memory, map, other, write);
	touch_page(memory, map, page, write);
}

/*
 * Whether a page is opened along with a neighbour: it was touched in the
 * segment before, or is next to pages that are written one after the other.
 */
static bool goes_along(const struct memory *memory, const struct mapping *map,
		       uint64_t page, bool write, bool in_order)
{
	unsigned state = page_state(memory, map, page);

	if (state & (PAGE_CLOSED | (write ? PAGE_WRITTEN : PAGE_READ)))
		return false;
	if (write)
		return in_order || (state & PAGE_WAS_WRITTEN_BEFORE);
	return (state & PAGE_WAS_READ_BEFORE) &&
	       !(state & PAGE_WAS_WRITTEN_BEFORE);
}

/*
 * A fault costs as much as hashing 20 pages, so neighbours that will probably
 * be touched too are opened with the page.  What is told of them may be too
 * much, never too little.
 */
static void touch_run(struct memory *memory, const struct mapping *map,
		      uint64_t page, bool write)
{
	struct span span = around(map, page, RUN_PAGES, RUN_PAGES + 1);
	uint64_t from = page, to = page + 1;
	bool upwards, downwards;

	write |= (memory->state[page] & PAGE_WAS_WRITTEN_BEFORE) &&
		 map->region.prot & MAY_WRITE;
	upwards = write && page > span.first &&
		  (memory->state[page - 1] & PAGE_WRITTEN);
	downwards = write && to < span.end &&
		    (memory->state[to] & PAGE_WRITTEN);
	while (from > span.first &&
	       goes_along(memory, map, from - 1, write, downwards))
		from--;
	while (to < span.end && goes_along(memory, map, to, write, upwards))
		to++;
	for (uint64_t other = from; other < to; other++)
		page_mark(memory, map, other, write);
	arena_protect(memory, from << GUEST_PAGE_SHIFT,
		      (to - from) << GUEST_PAGE_SHIFT, memory->state[page]);
}

/*
 * Whether a doubtful page is resolved along with a neighbour: the same event
 * made both doubtful, and both were touched in the segment before.  So is a
 * buffer that a program reads into again and again.
 */
static bool resolves_along(const struct memory *memory,
			   const struct mapping *map, uint64_t page,
			   unsigned state, uint64_t doubt)
{
	return page_state(memory, map, page) == state &&
	       page_doubt(memory, map, page) == doubt;
}

/* Resolves a doubtful page, and those around it that will be touched too. */
static void resolve_run(struct memory *memory, const struct mapping *map,
			uint64_t page, bool write)
{
	unsigned state = page_state(memory, map, page);
	uint64_t doubt = page_doubt(memory, map, page);
	struct span most = around(map, page, RUN_PAGES, RUN_PAGES + 1);
	struct span span = { page, page + 1 };

	while (span.first > most.first &&
	       resolves_along(memory, map, span.first - 1, state, doubt))
		span.first--;
	while (span.end < most.end &&
	       resolves_along(memory, map, span.end, state, doubt))
		span.end++;
	note(memory, span);
	arena_protect(memory, span.first << GUEST_PAGE_SHIFT,
		      (span.end - span.first) << GUEST_PAGE_SHIFT,
		      PAGE_READ | PAGE_WRITTEN);
	for (uint64_t other = span.first; other < span.end; other++) {
		resolve(memory, map, other);
		page_mark(memory, map, other, false);
	}
	arena_protect(memory, span.first << GUEST_PAGE_SHIFT,
		      (span.end - span.first) << GUEST_PAGE_SHIFT,
		      memory->state[page]);
	if (write)
		touch_page(memory, map, page, true);
}

/* Whether pages that are doubtful for one reason are resolved together. */
static bool comes_in_runs(const struct memory *memory,
			  const struct mapping *map, unsigned state)
{
	return memory->tracks && !mapping_is_shared(map) &&
	       (state & PAGE_DOUBTFUL) && (state & PAGE_WAS_TOUCHED_BEFORE);
}

/* ------- absent pages ------- */

static bool is_absent(const struct memory *memory, const struct mapping *map,
		      uint64_t page)
{
	return (page_state(memory, map, page) & PAGE_CLOSED) == PAGE_ABSENT;
}

static bool is_expected(const struct memory *memory, const struct mapping *map,
			uint64_t page)
{
	return is_absent(memory, map, page) &&
	       memory->observer.expects(memory->observer.context,
					origin(map, page));
}

static void fill_soon(struct memory *memory, struct span span)
{
	arena_fill_soon(memory, span.first << GUEST_PAGE_SHIFT,
			(span.end - span.first) << GUEST_PAGE_SHIFT);
}

static void fill_now(struct memory *memory, struct span span)
{
	arena_fill_now(memory, span.first << GUEST_PAGE_SHIFT,
		       (span.end - span.first) << GUEST_PAGE_SHIFT);
}

/* Opens absent pages and has them filled in. */
static void supply_span(struct memory *memory, const struct mapping *map,
			struct span span)
{
	uint64_t start = span.first << GUEST_PAGE_SHIFT;
	uint64_t size = (span.end - span.first) << GUEST_PAGE_SHIFT;

	note(memory, span);
	arena_protect(memory, start, size, PAGE_READ | PAGE_WRITTEN);
	supply(memory, map, span);
	for (uint64_t page = span.first; page < span.end; page++)
		page_mark(memory, map, page, true);
}

/*
 * How far expected neighbours are supplied along, each way: the further, the
 * more pages the guest has asked for already.
 */
static uint64_t reach(const struct memory *memory)
{
	uint64_t doublings = memory->opened / REACH_DOUBLES;

	return (uint64_t)RUN_PAGES
	       << (doublings < REACH_MOST ? doublings : REACH_MOST);
}

/* Supplies an absent page, and those around it that will be asked for. */
static void supply_run(struct memory *memory, const struct mapping *map,
		       uint64_t page)
{
	uint64_t far = reach(memory);
	struct span most = around(map, page, far, far + 1);
	struct span span = { page, page + 1 };

	while (span.first > most.first &&
	       is_expected(memory, map, span.first - 1))
		span.first--;
	while (span.end < most.end && is_expected(memory, map, span.end))
		span.end++;
	fill_soon(memory, span);
	supply_span(memory, map, span);
}

static void supply_absent(struct memory *memory, const struct mapping *map,
			  struct span span)
{
	uint64_t page = span.first;

	while (page < span.end) {
		uint64_t first = page;

		while (page < span.end && is_absent(memory, map, page))
			page++;
		if (page > first)
			supply_span(memory, map, (struct span){ first, page });
		else
			page++;
	}
}

bool memory_kept(struct memory *memory, uint64_t page,
		 uint8_t bytes[GUEST_PAGE])
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find(memory, addr);
	unsigned state;

	if (!map)
		return false;
	map = mapping_home(memory, map, &addr);
	page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;
	state = page_state(memory, map, page);
	if (!(state & PAGE_KEPT))
		return false;
	page_note(memory, page);
	arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
		      PAGE_READ | PAGE_WRITTEN);
	if (state & PAGE_ABSENT)
		supply(memory, map, (struct span){ page, page + 1 });
	memcpy(bytes, host_page(memory, page), GUEST_PAGE);
	arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE, 0);
	return true;
}

/* Guest pages, and where those before them are in the arena. */
struct walk {
	uint64_t page, count;	/* what is left */
	const struct mapping *map;	/* NULL: nothing is mapped there */
	struct span span;	/* of the arena; else of no meaning */
};

/* Goes on to the pages of the next mapping, or over one that has none. */
static bool next_span(struct memory *memory, struct walk *walk)
{
	guest_addr addr = walk->page << GUEST_PAGE_SHIFT;
	uint64_t taken = 1;

	if (!walk->count)
		return false;
	walk->map = memory_find(memory, addr);
	if (walk->map) {
		walk->span = around(walk->map,
				    mapping_arena(walk->map, addr) >>
					    GUEST_PAGE_SHIFT,
				    0, walk->count);
		taken = walk->span.end - walk->span.first;
	}
	walk->page += taken;
	walk->count -= taken;
	return true;
}

/*
 * Prepares pages to be filled in.  Mappings that are next to each other in the
 * arena are prepared as one piece: a huge page may be larger than each of them.
 */
static void fill_all(struct memory *memory, uint64_t page, uint64_t count,
		     void (*prepare)(struct memory *memory,
				     struct span span))
{
	struct walk walk = { page, count, NULL, { 0 } };
	struct span piece = { 0 };

	while (next_span(memory, &walk)) {
		if (!walk.map)
			continue;
		if (walk.span.first != piece.end) {
			prepare(memory, piece);
			piece.first = walk.span.first;
		}
		piece.end = walk.span.end;
	}
	prepare(memory, piece);
}

void memory_supply(struct memory *memory, uint64_t page, uint64_t count)
{
	struct walk walk = { page, count, NULL, { 0 } };

	fill_all(memory, page, count, fill_soon);
	while (next_span(memory, &walk))
		if (walk.map)
			supply_absent(memory, walk.map, walk.span);
	fill_all(memory, page, count, fill_now);
}

static void fill_span(struct memory *memory, const struct mapping *map,
		      struct span span, const uint8_t *bytes)
{
	uint64_t size = (span.end - span.first) << GUEST_PAGE_SHIFT;

	note(memory, span);
	arena_protect(memory, span.first << GUEST_PAGE_SHIFT, size,
		      PAGE_READ | PAGE_WRITTEN);
	fill_now(memory, span);
	for (uint64_t page = span.first; page < span.end; page++) {
		*page_own(memory, map, page) &=
			(uint8_t)~(PAGE_CLOSED | PAGE_KEPT | PAGE_SUPPLIED);
		page_mark(memory, map, page, true);
	}
	memcpy(host_page(memory, span.first), bytes, size);
	memory_note_stale(memory, map,
			  mapping_page(map, span.first) << GUEST_PAGE_SHIFT,
			  size);
	memory->opened++;
}

void memory_fill(struct memory *memory, uint64_t page, uint64_t count,
		 const uint8_t *bytes)
{
	struct walk walk = { page, count, NULL, { 0 } };

	fill_all(memory, page, count, fill_soon);
	while (next_span(memory, &walk) && walk.map) {
		fill_span(memory, walk.map, walk.span, bytes);
		bytes += (walk.span.end - walk.span.first) << GUEST_PAGE_SHIFT;
	}
}

static void touch(struct memory *memory, const struct mapping *map,
		  uint64_t page, bool write)
{
	unsigned need = write ? PAGE_WRITTEN : PAGE_READ;
	unsigned state;

	if (map->region.common)
		map = arena_mapping(memory, page);
	state = page_state(memory, map, page);
	page_note(memory, page);
	if (!(state & PAGE_CLOSED) && (state & need))
		return;
	memory->touches++;
	if (++memory->opened + memory->stayed > OPENED_MOST)
		touch_cluster(memory, map, page, write);
	else if (memory->tracks && !(state & PAGE_CLOSED))
		touch_run(memory, map, page, write);
	else if (comes_in_runs(memory, map, state))
		resolve_run(memory, map, page, write);
	else if (memory->observer.expects &&
		 is_absent(memory, map, page))
		supply_run(memory, map, page);
	else
		touch_page(memory, map, page, write);
}

void arena_touch(struct memory *memory, const struct mapping *map,
		 uint64_t page, bool write)
{
	size_t lent = memory->lent_count;

	touch(memory, map, page, write);
	if (memory->lent_count > lent)
		guard_settle(memory, lent);
}
