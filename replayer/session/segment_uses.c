/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_uses.c - see segment_uses.h */
#include "replayer/session/segment_uses.h"

#include "replayer/session/query_internal.h"
#include "vm/memory/memory.h"

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

/* Where the contents of a page are, at a segment's key frame. */
static uint64_t home_of(const struct region *region, uint64_t page)
{
	if (!region || !region->common)
		return page;
	return page + ((region->common - region->start) >> GUEST_PAGE_SHIFT);
}

static bool may_be_in_page(const struct segment_view *view, uint64_t page,
			   bool reads, uint64_t length, bool *everywhere)
{
	const struct region *region = segment_view_region(view, page);
	uint64_t home = home_of(region, page);
	bool is_shared = region && region->kind == REGION_SHARED;
	bool is_touched = page_index_is_touched(&view->index, home);

	/* Memory that is mapped again may have another home. */
	if (segment_view_may_change(view, page, length))
		*everywhere = true;
	return *everywhere ||
	       segment_view_may_change(view, home, length) ||
	       !page_index_is_unchanged(&view->index, home, length) ||
	       (is_touched && (reads || is_shared));
}

int segment_may_access(struct query *query, size_t segment,
		       const struct segment_use *use, bool *may,
		       bool *everywhere, struct failure *why)
{
	struct recording *recording = query->recording;
	uint64_t first = use->addr >> GUEST_PAGE_SHIFT;
	uint64_t last = (use->addr + use->size - 1) >> GUEST_PAGE_SHIFT;
	uint64_t length = recording_time(recording, segment + 1) -
			  recording_time(recording, segment);
	struct segment_view *view;
	int rc;

	segment_views_trim(&query->views);
	rc = segment_views_packets(&query->views, segment, &view, why);
	*may = *everywhere = false;
	for (uint64_t page = first; page <= last && !rc; page++)
		*may |= may_be_in_page(view, page, use->reads, length,
				       everywhere);
	return rc;
}
