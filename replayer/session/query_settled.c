/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_settled.c - bytes that are at some time as they are at a key frame
 *
 * The page level of the index knows when a segment writes a page first.  The
 * fine level, where it is there, knows of lines when they are not written any
 * more, too: then the next key frame tells what they held.
 */
#include "replayer/session/query_internal.h"
#include "replayer/session/segment_uses.h"

/* Whether the page is the same at a key frame, and all is known of it there. */
static int is_same_at(bool *out, struct query *query,
		      const struct settled_question *question, size_t segment,
		      struct failure *why)
{
	uint64_t page = question->addr >> GUEST_PAGE_SHIFT;
	const struct region *region;
	struct segment_view *view;
	int rc = segment_views_load(&query->views, segment, &view, why);

	*out = false;
	if (rc)
		return rc;
	region = segment_view_region(view, page);
	if (!region || region->kind == REGION_SHARED)
		return 0;
	if (region->common)
		page += (region->common - region->start) >> GUEST_PAGE_SHIFT;
	*out = page == question->page && !segment_view_doubt(view, page);
	return 0;
}

int query_settled(size_t *segment, bool *is_settled, struct query *query,
		  const struct settled_question *question, struct failure *why)
{
	const struct segment_use use = { question->addr, question->size, false };
	size_t next = question->segment + 1;
	struct segment_uses uses;
	uint64_t epoch;
	int rc = segment_uses_find(&uses, query, &use, question->segment, why);

	*is_settled = false;
	if (rc || uses.everywhere || uses.is_whole)
		return rc;
	epoch = question->time >> uses.shift;
	if (epoch >= EPOCHS_MOST)
		epoch = EPOCHS_MOST - 1;
	/* Of this epoch it is not known what comes before that time. */
	*segment = question->segment;
	if (!(uses.epochs << (EPOCHS_MOST - 1 - epoch)))
		return is_same_at(is_settled, query, question,
				  question->segment, why);
	*segment = next;
	if (uses.epochs >> epoch || next == recording_segments(query->recording))
		return 0;
	return is_same_at(is_settled, query, question, next, why);
}
