/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listing.c - see listing.h */
#include "recorder/listing.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/trace_file.h"

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

/* ------- pages that differ from the snapshot before ------- */

void listing_page(struct listing *listing, uint64_t page, uint64_t id)
{
	struct snapshot *shot = listing->shot;

	if (array_room(shot->list, shot->count, shot->room)) {
		listing->error = ERR_NO_MEMORY;
		return;
	}
	shot->list[shot->count++] = (struct page_ref){ page, id };
	if (page_store_set_current(listing->store, page, id))
		listing->error = ERR_NO_MEMORY;
}

static int write_waiting(struct listing *listing, bool all, struct failure *why)
{
	return listing->calls->write(listing->context, all, why);
}

static const uint8_t *contents_of(struct listing *listing, uint64_t page)
{
	return listing->calls->contents(listing->context, page);
}

/*
 * All that changed in the group of a page is listed.  If the group begins anew,
 * its other pages are listed too.
 */
static int end_group(struct listing *listing, uint64_t page,
		     struct failure *why)
{
	struct snapshot *shot = listing->shot;
	size_t next = listing->group, end = shot->count;
	uint64_t first = page - page % PAGE_GROUP;
	int rc = 0;

	listing->group = end;
	if (!page_store_begins(listing->store, page))
		return 0;
	for (page = first; page < first + PAGE_GROUP && !rc; page++) {
		uint64_t id;

		if (next < end && shot->list[next].page == page) {
			next++;
			continue;
		}
		id = contents_of(listing, page) ?
			     page_store_begin(listing->store, page) : 0;
		if (!id)
			continue;
		listing_page(listing, page, id);
		rc = write_waiting(listing, false, why);
	}
	listing->group = shot->count;
	return rc;
}

int listing_contents(struct listing *listing, uint64_t page,
		     struct failure *why)
{
	const uint8_t *bytes = contents_of(listing, page);
	uint64_t id;

	if (!bytes)
		return 0;
	if (page_store_add(listing->store, page, bytes, &id))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (id != page_store_current(listing->store, page))
		listing_page(listing, page, id);
	else if (listing->calls->unchanged)
		listing->calls->unchanged(listing->context, page);
	return write_waiting(listing, false, why);
}

bool listing_was_written(const struct page_touch *touch)
{
	return touch->how & (PAGE_WAS_WRITTEN | PAGE_WAS_RESOLVED);
}

int listing_written(struct listing *listing, const struct page_touch *touches,
		    size_t count, struct failure *why)
{
	uint64_t last = UINT64_MAX;
	int rc = 0;

	listing->group = listing->shot->count;
	for (size_t i = 0; i < count && !rc; i++) {
		uint64_t page = touches[i].page;

		if (!listing_was_written(&touches[i]) || page == last)
			continue;
		if (last != UINT64_MAX &&
		    page / PAGE_GROUP != last / PAGE_GROUP)
			rc = end_group(listing, last, why);
		if (!rc)
			rc = listing_contents(listing, page, why);
		last = page;
	}
	if (last != UINT64_MAX && !rc)
		rc = end_group(listing, last, why);
	return rc;
}

int listing_end(struct listing *listing, struct failure *why)
{
	if (listing->error)
		return failed(why, listing->error, "out of memory");
	sort_refs(listing->shot->list, listing->shot->count);
	return write_waiting(listing, true, why);
}

/* ------- all pages ------- */

/*
 * All pages are listed once the lists of changes since then have this many
 * entries for each page, and this many in all.  So a question reads about two
 * entries for each page at most.  More would make recordings smaller.
 */
#define CHANGES_PER_PAGE 2
#define CHANGES_LEAST 16384

/* Of more the list might not fit a chunk: an item has up to 15 bytes. */
#define ALL_PAGES_MOST (UINT64_C(1) << 22)

bool listing_all_is_due(const struct page_store *store, uint64_t listed)
{
	uint64_t count = store->current.count;

	return listed >= CHANGES_LEAST && listed >= CHANGES_PER_PAGE * count &&
	       count <= ALL_PAGES_MOST;
}

struct page_ref *listing_all(const struct page_store *store, size_t *count)
{
	const struct number_map *current = &store->current;
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

int listing_write_all(const struct page_store *store,
		      struct trace_writer *writer, uint32_t segment,
		      struct failure *why)
{
	struct output out = { 0 };
	size_t count;
	struct page_ref *list = listing_all(store, &count);

	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	page_refs_encode(&out, list, count);
	free(list);
	if (out.error) {
		output_release(&out);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	return trace_writer_chunk(writer, CHUNK_SNAPSHOT, 0, segment, 0, &out,
				  why);
}
