/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.c - what memory holds at a key frame, as stored pages */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

/*
 * All pages are listed once the lists of changes since then have this many
 * entries for each page, and this many in all.  So a question reads about two
 * entries for each page at most.  More would make recordings smaller.
 */
#define CHANGES_PER_PAGE 2
#define CHANGES_LEAST 16384

/* Of more the list might not fit a chunk: an item has up to 15 bytes. */
#define ALL_PAGES_MOST (UINT64_C(1) << 22)

/* A snapshot that is being taken. */
struct taking {
	struct recorder *rec;
	struct snapshot *shot;
	size_t group;		/* where the pages of the present group begin */
	int error;
};

static int by_ref_page(const void *left, const void *right)
{
	const struct page_ref *a = left, *b = right;

	return a->page < b->page ? -1 : a->page > b->page;
}

static void sort_refs(struct page_ref *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), by_ref_page);
}

/* All pages of the newest snapshot that are not zeros; NULL: no memory. */
static struct page_ref *list_current(const struct recorder *rec, size_t *count)
{
	const struct number_map *current = &rec->pages.current;
	struct page_ref *list = malloc((current->count + 1) * sizeof(*list));

	*count = 0;
	for (size_t i = 0; list && i < current->room; i++) {
		const struct number_slot *slot = &current->slots[i];

		if (slot->key != NUMBER_MAP_NONE && slot->value)
			list[(*count)++] = (struct page_ref){ slot->key,
							      slot->value };
	}
	if (list)
		sort_refs(list, *count);
	return list;
}

/* ------- pages that differ from the snapshot before ------- */

static void list_page(struct taking *taking, uint64_t page, uint64_t id)
{
	struct snapshot *shot = taking->shot;

	if (array_room(shot->list, shot->count, shot->room)) {
		taking->error = ERR_NO_MEMORY;
		return;
	}
	shot->list[shot->count++] = (struct page_ref){ page, id };
	if (page_store_set_current(&taking->rec->pages, page, id))
		taking->error = ERR_NO_MEMORY;
}

static bool was_written(const struct page_touch *touch)
{
	return touch->how & (PAGE_WAS_WRITTEN | PAGE_WAS_RESOLVED);
}

static bool is_written(const struct recorder *rec, uint64_t page)
{
	size_t i =
		page_touches_find(rec->touched.list, rec->touched.count, page);

	for (; i < rec->touched.count && rec->touched.list[i].page == page; i++)
		if (was_written(&rec->touched.list[i]))
			return true;
	return false;
}

/* Lists a page that is zeros now but was something else in older snapshots. */
static void list_fresh(void *context, uint64_t page)
{
	struct taking *taking = context;
	struct recorder *rec = taking->rec;

	if (!page_store_current(&rec->pages, page) ||
	    is_written(rec, page) || !effects_own_page(rec, page) ||
	    !memory_region_at(rec->memory, page << GUEST_PAGE_SHIFT))
		return;
	list_page(taking, page, 0);
}

/* The contents that the snapshot shows, or NULL: unmapped, or doubtful. */
static const uint8_t *own_page(const struct recorder *rec, uint64_t page)
{
	return effects_own_page(rec, page) ? memory_peek(rec->memory, page) :
					     NULL;
}

/*
 * All that changed in the group of a page is listed.  If the group begins anew,
 * its other pages are listed too.
 */
static int end_group(struct taking *taking, uint64_t page, struct failure *why)
{
	struct recorder *rec = taking->rec;
	struct snapshot *shot = taking->shot;
	size_t next = taking->group, end = shot->count;
	uint64_t first = page - page % PAGE_GROUP;
	int rc = 0;

	taking->group = end;
	if (!page_store_begins(&rec->pages, page))
		return 0;
	for (page = first; page < first + PAGE_GROUP && !rc; page++) {
		uint64_t id;

		if (next < end && shot->list[next].page == page) {
			next++;
			continue;
		}
		id = own_page(rec, page) ? page_store_begin(&rec->pages, page) :
					   0;
		if (!id)
			continue;
		list_page(taking, page, id);
		rc = segment_write_pages(rec, false, why);
	}
	taking->group = shot->count;
	return rc;
}

/* Stores a page, and lists it if its contents are others than before. */
static int list_contents(struct taking *taking, uint64_t page,
			 struct failure *why)
{
	struct recorder *rec = taking->rec;
	const uint8_t *bytes = own_page(rec, page);
	uint64_t id;

	if (!bytes)
		return 0;
	if (page_store_add(&rec->pages, page, bytes, &id))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (id != page_store_current(&rec->pages, page))
		list_page(taking, page, id);
	else
		memory_found_unchanged(rec->memory, page);
	return segment_write_pages(rec, false, why);
}

static int list_written(struct taking *taking, struct failure *why)
{
	struct recorder *rec = taking->rec;
	uint64_t last = UINT64_MAX;
	int rc = 0;

	taking->group = taking->shot->count;
	for (size_t i = 0; i < rec->touched.count && !rc; i++) {
		uint64_t page = rec->touched.list[i].page;

		if (!was_written(&rec->touched.list[i]) || page == last)
			continue;
		if (last != UINT64_MAX &&
		    page / PAGE_GROUP != last / PAGE_GROUP)
			rc = end_group(taking, last, why);
		if (!rc)
			rc = list_contents(taking, page, why);
		last = page;
	}
	if (last != UINT64_MAX && !rc)
		rc = end_group(taking, last, why);
	return rc;
}

int snapshot_prepare(struct recorder *rec, struct failure *why)
{
	int rc = 0;

	segment_merge_touches(rec);
	for (size_t i = 0; i < rec->touched.count && !rc; i++) {
		uint64_t page = rec->touched.list[i].page, id;
		const uint8_t *bytes = NULL;

		if (was_written(&rec->touched.list[i]))
			bytes = own_page(rec, page);
		if (!bytes)
			continue;
		if (page_store_add(&rec->pages, page, bytes, &id))
			return failed(why, ERR_NO_MEMORY, "out of memory");
		rc = segment_write_pages(rec, false, why);
	}
	return rc;
}

/* ------- the first snapshot of a child ------- */

static void forget_page(void *context, uint64_t page)
{
	struct taking *taking = context;

	if (page_store_set_current(&taking->rec->pages, page, 0))
		taking->error = ERR_NO_MEMORY;
}

/* What the parent's newest snapshot says, and has not changed since then. */
static int list_inherited_page(struct taking *taking, uint64_t page,
			       struct failure *why)
{
	struct recorder *rec = taking->rec;
	uint64_t id;

	if (is_written(rec, page) || !effects_own_page(rec, page) ||
	    !memory_is_known(rec->memory, page)) {
		forget_page(taking, page);
		return 0;
	}
	if (page_store_is_mixed(&rec->pages, page)) {
		forget_page(taking, page);
		return list_contents(taking, page, why);
	}
	if (page_store_inherit_page(&rec->pages, page, &id))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (id)
		list_page(taking, page, id);
	return segment_write_pages(rec, false, why);
}

static int list_inherited(struct taking *taking, struct failure *why)
{
	struct recorder *rec = taking->rec;
	struct page_ref *list;
	size_t count;
	int rc = 0;

	for (size_t i = 0; i < rec->touched.fresh_count; i++)
		page_store_each(&rec->pages, rec->touched.fresh[i].page,
				rec->touched.fresh[i].count, forget_page,
				taking);
	list = list_current(rec, &count);
	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count && !rc; i++)
		rc = list_inherited_page(taking, list[i].page, why);
	free(list);
	page_store_end_inheriting(&rec->pages);
	return rc;
}

/* ------- all of them ------- */

int snapshot_take(struct recorder *rec, struct snapshot *out,
		  struct failure *why)
{
	struct taking taking = { .rec = rec, .shot = out };
	struct segment_costs costs = segment_costs(rec);
	uint64_t unlike = rec->pages.unlike;
	int rc = 0;

	if (rec->pages.inherited)
		rc = list_inherited(&taking, why);
	for (size_t i = 0; i < rec->touched.fresh_count; i++)
		page_store_each(&rec->pages, rec->touched.fresh[i].page,
				rec->touched.fresh[i].count, list_fresh,
				&taking);
	bases_next_turn(&rec->pages.bases);
	if (!rc)
		rc = list_written(&taking, why);
	if (!rc && taking.error)
		rc = failed(why, taking.error, "out of memory");
	if (rc)
		return rc;
	pacing_learn(&rec->pacing, &costs, rec->pages.unlike - unlike);
	sort_refs(out->list, out->count);
	return segment_write_pages(rec, true, why);
}

/* ------- all pages ------- */

int snapshot_write(struct recorder *rec, const struct snapshot *shot,
		   struct failure *why)
{
	const struct number_map *current = &rec->pages.current;
	struct output out = { 0 };
	struct page_ref *list;
	size_t count;

	rec->touched.listed += shot->count;
	if (rec->touched.listed < CHANGES_LEAST ||
	    rec->touched.listed < CHANGES_PER_PAGE * current->count ||
	    current->count > ALL_PAGES_MOST)
		return 0;
	rec->touched.listed = 0;
	list = list_current(rec, &count);
	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	page_refs_encode(&out, list, count);
	free(list);
	if (out.error) {
		output_release(&out);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	return trace_writer_chunk(rec->trace.writer, CHUNK_SNAPSHOT, 0,
				  rec->segment.number, 0, &out, why);
}
