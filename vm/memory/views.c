/* SPDX-License-Identifier: GPL-2.0-or-later */
/* views.c - see views.h */
#include "vm/memory/views.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/number_map.h"
#include "vm/memory/memory_internal.h"

#define VIEW_NONE UINT32_MAX

enum {
	/* A choice: without a copy, a thread is told the whole page instead of
	 * a difference, which only makes the recording larger. */
	COPIES = 8,		/* of one page */
	COPIES_MOST = 8192,	/* of all: 32 MiB */
};

/* A page that was written since the segment started. */
struct viewed {
	uint64_t page;
	uint32_t version;	/* from 1 */
	uint32_t taken;		/* newest version that another view has seen */
	uint32_t writer;	/* view that knows the version */
	uint64_t turn;		/* in which it may write; 0: in none */
	uint32_t next_copy;
	struct copy {
		uint32_t version;	/* 0: none */
		uint8_t *bytes;
	} copies[COPIES];
};

struct views {
	unsigned present;
	uint64_t turn;
	struct number_map pages;	/* to index in `list` */
	struct viewed *list;
	size_t count, room;
	struct number_map seen;		/* page and view, to version */
	size_t copies;
};

/* ------- making and ending ------- */

static void drop_copies(struct views *views, struct viewed *page)
{
	for (size_t i = 0; i < COPIES; i++) {
		views->copies -= page->copies[i].bytes != NULL;
		free(page->copies[i].bytes);
		page->copies[i] = (struct copy){ 0 };
	}
}

void views_reset(struct views *views)
{
	for (size_t i = 0; i < views->count; i++)
		drop_copies(views, &views->list[i]);
	views->count = 0;
	number_map_clear(&views->pages);
	number_map_clear(&views->seen);
	views->turn++;
}

void views_destroy(struct views *views)
{
	if (!views)
		return;
	views_reset(views);
	number_map_release(&views->pages);
	number_map_release(&views->seen);
	free(views->list);
	free(views);
}

void views_turn(struct views *views, unsigned view)
{
	views->present = view;
	views->turn++;
}

/* ------- pages ------- */

static const uint8_t *arena_bytes(const struct memory *memory, uint64_t page)
{
	return memory->arena + (page << GUEST_PAGE_SHIFT);
}

static struct viewed *find_page(const struct views *views, uint64_t page)
{
	const uint64_t *index = number_map_find(&views->pages, page);

	return index ? &views->list[*index] : NULL;
}

static struct viewed *add_page(struct views *views, uint64_t page)
{
	struct viewed *viewed = find_page(views, page);

	if (viewed)
		return viewed;
	if (array_room(views->list, views->count, views->room))
		return NULL;
	if (number_map_set(&views->pages, page, views->count))
		return NULL;
	viewed = &views->list[views->count++];
	*viewed = (struct viewed){ .page = page };
	return viewed;
}

/* What it has written, and what it has found out of files. */
static void add_known(struct views *views, const struct memory *memory,
		      const struct mapping *map)
{
	uint64_t page = map->arena >> GUEST_PAGE_SHIFT;
	uint64_t end = page + (mapping_size(map) >> GUEST_PAGE_SHIFT);
	unsigned changed = PAGE_WRITTEN;

	if (map->region.kind != REGION_ANON)
		changed |= PAGE_READ;
	for (; (page = pages_next(memory, page, end, changed)) < end; page++) {
		struct viewed *viewed = add_page(views, page);

		if (viewed)
			viewed->version = 1;
	}
}

struct views *views_create(const struct memory *memory)
{
	struct views *views = calloc(1, sizeof(*views));

	if (!views)
		return NULL;
	views->turn = 1;
	for (size_t i = 0; i < memory->count; i++)
		add_known(views, memory, mapping_at(memory, i));
	return views;
}

/*
 * What was seen of it must not be found under a version that is given again:
 * these go on counting.
 */
static void forget(struct views *views, struct viewed *viewed)
{
	drop_copies(views, viewed);
	viewed->writer = VIEW_NONE;
	viewed->turn = 0;
}

void views_forget(struct views *views, uint64_t page, uint64_t count)
{
	if (count < views->count) {
		for (uint64_t end = page + count; page < end; page++) {
			struct viewed *viewed = find_page(views, page);

			if (viewed)
				forget(views, viewed);
		}
		return;
	}
	for (size_t i = 0; i < views->count; i++)
		if (views->list[i].page - page < count)
			forget(views, &views->list[i]);
}

static uint64_t seen_key(uint64_t page, unsigned view)
{
	return page << 24 | view;
}

static const uint8_t *find_copy(const struct viewed *page, uint32_t version)
{
	for (size_t i = 0; i < COPIES; i++)
		if (page->copies[i].bytes && page->copies[i].version == version)
			return page->copies[i].bytes;
	return NULL;
}

static void keep_copy(struct views *views, struct viewed *page,
		      const uint8_t *bytes)
{
	struct copy *copy = &page->copies[page->next_copy];

	if (!copy->bytes) {
		if (views->copies == COPIES_MOST)
			return;
		copy->bytes = malloc(GUEST_PAGE);
		if (!copy->bytes)
			return;
		views->copies++;
	}
	page->next_copy = (page->next_copy + 1) % COPIES;
	copy->version = page->version;
	memcpy(copy->bytes, bytes, GUEST_PAGE);
}

/* The present view is to know the page as it is now. */
static void learn(struct memory *memory, uint64_t page, struct viewed *viewed)
{
	struct views *views = memory->views;
	uint64_t key = seen_key(page, views->present);
	const uint64_t *seen = number_map_find(&views->seen, key);
	const uint8_t *before = NULL;

	if (seen && *seen == viewed->version)
		return;
	if (seen)
		before = find_copy(viewed, (uint32_t)*seen);
	memory->observer.learned(memory->observer.context,
				 mapping_page(arena_mapping(memory, page),
					      page),
				 before, arena_bytes(memory, page));
	number_map_set(&views->seen, key, viewed->version);
	viewed->taken = viewed->version;
}

/* The present view is about to write. */
static void begin_version(struct memory *memory, uint64_t page,
			  struct viewed *viewed)
{
	struct views *views = memory->views;
	bool displaced = viewed->version &&
			 viewed->writer != views->present;

	if (displaced && viewed->writer != VIEW_NONE)
		number_map_set(&views->seen, seen_key(page, viewed->writer),
			viewed->version);
	if (displaced || (viewed->version && viewed->taken == viewed->version))
		keep_copy(views, viewed, arena_bytes(memory, page));
	viewed->version++;
	viewed->writer = views->present;
}

bool views_touch(struct memory *memory, uint64_t page, bool write)
{
	struct views *views = memory->views;
	struct viewed *viewed = find_page(views, page);

	if (viewed && viewed->writer != views->present &&
	    viewed->writer != VIEW_NONE)
		learn(memory, page, viewed);
	if (!write)
		return viewed && viewed->turn == views->turn &&
		       viewed->writer == views->present;
	if (!viewed)
		viewed = add_page(views, page);
	if (!viewed)
		return false;
	if (viewed->turn != views->turn || viewed->writer != views->present)
		begin_version(memory, page, viewed);
	viewed->turn = views->turn;
	return true;
}

void views_resolved(struct memory *memory, uint64_t page)
{
	struct views *views = memory->views;
	struct viewed *viewed = add_page(views, page);

	if (!viewed)
		return;
	if (viewed->version && viewed->writer != VIEW_NONE)
		number_map_set(&views->seen, seen_key(page, viewed->writer),
			viewed->version);
	viewed->version++;
	viewed->writer = views->present;
	viewed->turn = 0;
}
