/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.c - what a process's memory holds at a key frame, as stored pages */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>

/* A snapshot that is being taken. */
struct taking {
	struct recorder *rec;
	struct listing listing;
};

/* The contents that the snapshot shows, or NULL: unmapped, or doubtful. */
static const uint8_t *own_page(const struct recorder *rec, uint64_t page)
{
	return effects_own_page(rec, page) ? memory_peek(rec->memory, page) :
					     NULL;
}

static const uint8_t *contents(void *context, uint64_t page)
{
	return own_page(context, page);
}

static void unchanged(void *context, uint64_t page)
{
	struct recorder *rec = context;

	memory_found_unchanged(rec->memory, page);
}

static int write_waiting(void *context, bool all, struct failure *why)
{
	return segment_write_pages(context, all, why);
}

static const struct listing_calls calls = { contents, unchanged,
					    write_waiting };

/* ------- pages that differ from the snapshot before ------- */

static bool is_written(const struct recorder *rec, uint64_t page)
{
	size_t i =
		page_touches_find(rec->touched.list, rec->touched.count, page);

	for (; i < rec->touched.count && rec->touched.list[i].page == page; i++)
		if (listing_was_written(&rec->touched.list[i]))
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
	listing_page(&taking->listing, page, 0);
}

int snapshot_prepare(struct recorder *rec, struct failure *why)
{
	int rc = 0;

	segment_merge_touches(rec);
	for (size_t i = 0; i < rec->touched.count && !rc; i++) {
		uint64_t page = rec->touched.list[i].page, id;
		const uint8_t *bytes = NULL;

		if (listing_was_written(&rec->touched.list[i]))
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
		taking->listing.error = ERR_NO_MEMORY;
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
		return listing_contents(&taking->listing, page, why);
	}
	if (page_store_inherit_page(&rec->pages, page, &id))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (id)
		listing_page(&taking->listing, page, id);
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
	list = listing_all(&rec->pages, &count);
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
	struct taking taking = {
		.rec = rec,
		.listing = { &rec->pages, out, &calls, rec },
	};
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
		rc = listing_written(&taking.listing, rec->touched.list,
				     rec->touched.count, why);
	if (rc)
		return rc;
	pacing_learn(&rec->pacing, &costs, rec->pages.unlike - unlike);
	return listing_end(&taking.listing, why);
}

int snapshot_write(struct recorder *rec, const struct snapshot *shot,
		   struct failure *why)
{
	rec->touched.listed += shot->count;
	if (!listing_all_is_due(&rec->pages, rec->touched.listed))
		return 0;
	rec->touched.listed = 0;
	return listing_write_all(&rec->pages, rec->trace.writer,
				 rec->segment.number, why);
}
