/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_uses.c - see segment_uses.h */
#include "replayer/session/segment_uses.h"

#include "replayer/session/query_internal.h"

struct inquiry {
	struct query *query;
	const struct segment_use *use;
	size_t segment;
	const struct segment_view *view;
	uint64_t length;
};

/* Where the contents of a page are, at the segment's key frame. */
static uint64_t home_of(const struct segment_view *view, uint64_t page)
{
	const struct region *region = segment_view_region(view, page);

	if (!region || !region->common)
		return page;
	return page + ((region->common - region->start) >> GUEST_PAGE_SHIFT);
}

/* Indexes are of memory; registers of devices may be used in any segment. */
static bool is_of_device(const struct segment_view *view, uint64_t page)
{
	const struct region *region = segment_view_region(view, page);

	return region && region->kind == REGION_DEVICE;
}

static bool is_of_others(const struct segment_view *view, uint64_t page)
{
	const struct region *region = segment_view_region(view, page);

	return region && region->kind == REGION_SHARED;
}

int segment_begin(struct query *query, size_t segment, struct position *out,
		  struct failure *why)
{
	struct recording *recording = query->recording;

	out->time = recording_time(recording, segment);
	if (segment == recording_segments(recording)) {
		out->events = EVENTS_ALL;
		return 0;
	}
	return recording_events_before(recording, segment, &out->events, why);
}

/* ------- pages ------- */

static bool may_be_in_page(const struct inquiry *inquiry, uint64_t page)
{
	const struct segment_view *view = inquiry->view;
	uint64_t length = inquiry->length, home = home_of(view, page);
	bool is_touched = page_index_is_touched(&view->index, home);

	return segment_view_may_change(view, page, length) ||
	       segment_view_may_change(view, home, length) ||
	       !page_index_is_unchanged(&view->index, home, length) ||
	       (is_touched &&
		(inquiry->use->reads || is_of_others(view, page)));
}

/* ------- epochs ------- */

/* Those in which a page, or what is asked for of it, may be accessed. */
static uint64_t epochs_of_page(const struct inquiry *inquiry,
			       const struct line_set *lines, uint64_t page)
{
	const struct segment_use *use = inquiry->use;
	const struct segment_view *view = inquiry->view;
	guest_addr first = page << GUEST_PAGE_SHIFT;
	guest_addr last = first + GUEST_PAGE - 1;
	guest_addr end = use->addr + use->size - 1;
	uint64_t home = home_of(view, page);
	guest_addr there = (home - page) << GUEST_PAGE_SHIFT;

	if (first < use->addr)
		first = use->addr;
	if (last > end)
		last = end;
	return line_set_epochs(lines, first + there, last + there) |
	       line_set_epochs(lines, first, last) |
	       segment_view_epochs(view, page, lines->shift) |
	       segment_view_epochs(view, home, lines->shift);
}

/* Adds those of one kind of accesses, or asks for them to be learnt. */
static int add_epochs(struct segment_uses *parts,
		      const struct inquiry *inquiry, enum side_kind kind,
		      struct failure *why)
{
	const struct segment_use *use = inquiry->use;
	guest_addr end = use->addr + use->size - 1;
	const struct line_set *lines;
	int rc = fine_lines(&inquiry->query->fine, kind, inquiry->segment, &lines,
			    why);

	if (rc)
		return rc;
	if (!lines) {
		parts->is_whole = true;
		parts->learns = fine_is_wanted(&inquiry->query->fine, kind,
					       inquiry->segment);
		return 0;
	}
	parts->shift = lines->shift;
	for (uint64_t page = use->addr >> GUEST_PAGE_SHIFT;
	     page <= end >> GUEST_PAGE_SHIFT; page++)
		parts->epochs |= epochs_of_page(inquiry, lines, page);
	return 0;
}

/*
 * Reads of what others share tell what they wrote, some time before: that is
 * for one replay to find.  Memory that is mapped again may have another home.
 */
static int find_epochs(struct segment_uses *parts,
		       const struct inquiry *inquiry, bool is_shared,
		       struct failure *why)
{
	int rc = 0;

	parts->is_whole = parts->everywhere || is_shared;
	if (!parts->is_whole)
		rc = add_epochs(parts, inquiry, SIDE_WRITES, why);
	if (!rc && !parts->is_whole && inquiry->use->reads) {
		unsigned shift = parts->shift;

		rc = add_epochs(parts, inquiry, SIDE_READS, why);
		/* One of them had its epochs joined. */
		parts->is_whole |= parts->shift != shift;
	}
	if (parts->is_whole)
		parts->epochs = UINT64_MAX;
	return rc;
}

/* Of more pages than these it is not asked whether they are used. */
#define PAGES_MOST (UINT64_C(1) << 20)

int segment_uses_find(struct segment_uses *out, struct query *query,
		       const struct segment_use *use, size_t segment,
		       struct failure *why)
{
	struct inquiry inquiry = { query, use, segment, NULL, 0 };
	uint64_t first = use->addr >> GUEST_PAGE_SHIFT;
	uint64_t last = (use->addr + use->size - 1) >>
			GUEST_PAGE_SHIFT;
	bool is_shared = false, may = false;
	struct segment_view *view;
	int rc;

	*out = (struct segment_uses){
		.start = recording_time(query->recording, segment),
	};
	inquiry.length = recording_time(query->recording, segment + 1) -
			 out->start;
	segment_views_trim(&query->views);
	rc = segment_views_packets(&query->views, segment, &view, why);
	if (rc)
		return rc;
	inquiry.view = view;
	if (last - first >= PAGES_MOST) {
		out->everywhere = true;
		last = first;
	}
	for (uint64_t page = first; page <= last; page++) {
		may |= may_be_in_page(&inquiry, page);
		if (is_of_device(view, page))
			may = out->everywhere = true;
		is_shared |= is_of_others(view, page);
		out->everywhere |= segment_view_is_remapped(view, page);
	}
	if (!may && !out->everywhere)
		return 0;
	return find_epochs(out, &inquiry, is_shared, why);
}

/* ------- stretches ------- */

static bool is_set(const struct segment_uses *parts, unsigned epoch)
{
	return parts->epochs >> epoch & 1;
}

bool segment_uses_next(const struct segment_uses *parts, unsigned *first,
			unsigned *last)
{
	unsigned end;

	while (*first < EPOCHS_MOST && !is_set(parts, *first))
		++*first;
	for (end = *first; end < EPOCHS_MOST && is_set(parts, end);)
		end++;
	if (last)
		*last = end - 1;
	return *first < EPOCHS_MOST;
}

bool segment_uses_last(const struct segment_uses *parts, uint64_t time,
			unsigned *last)
{
	uint64_t steps = time > parts->start ? time - parts->start : 0;
	uint64_t most = steps >> parts->shift;

	*last = most < EPOCHS_MOST ? (unsigned)most : EPOCHS_MOST - 1;
	while (*last && !is_set(parts, *last))
		--*last;
	return is_set(parts, *last);
}

bool segment_uses_before(const struct segment_uses *parts, unsigned epoch,
			  unsigned *out)
{
	while (epoch-- > 0) {
		if (is_set(parts, epoch)) {
			*out = epoch;
			return true;
		}
	}
	return false;
}

void segment_uses_bound(const struct segment_uses *parts, unsigned first,
			 unsigned last, struct position *from,
			 struct position *to)
{
	struct position begins = { parts->start, 0 };
	struct position ends = { parts->start, EVENTS_ALL };

	if (parts->is_whole)
		return;
	/* What a call does at a time, its instruction does, one before. */
	begins.time += ((uint64_t)first << parts->shift) - 1;
	ends.time += (uint64_t)(last + 1) << parts->shift;
	if (first && position_compare(&begins, from) > 0)
		*from = begins;
	if (position_compare(&ends, to) < 0)
		*to = ends;
}
