/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doubts.c - see doubts.h */
#include "index/doubts.h"

#include <stdlib.h>

#include "formats/error.h"
#include "index/page_index.h"

int segment_views_init(struct segment_views *views,
		       struct recording *recording, struct failure *why)
{
	views->recording = recording;
	views->list = calloc(recording_segments(recording),
			     sizeof(*views->list));
	return views->list ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

void segment_views_release(struct segment_views *views)
{
	for (size_t i = 0; views->list &&
	     i < recording_segments(views->recording); i++)
		segment_view_release(&views->list[i]);
	free(views->list);
	*views = (struct segment_views){ 0 };
}

int segment_views_load(struct segment_views *views, size_t segment,
		       struct segment_view **out, struct failure *why)
{
	*out = &views->list[segment];
	return segment_view_load(*out, views->recording, segment, why);
}

int segment_views_packets(struct segment_views *views, size_t segment,
			  struct segment_view **out, struct failure *why)
{
	*out = &views->list[segment];
	return segment_view_packets(*out, views->recording, segment, why);
}

int doubts_resolution(struct segment_views *views, size_t *segment,
		      uint64_t page, uint64_t doubt,
		      const struct page_touch **out, struct failure *why)
{
	size_t count = recording_segments(views->recording);

	for (; *segment < count; ++*segment) {
		struct segment_view *view;
		int rc = segment_views_packets(views, *segment, &view, why);

		*out = rc ? NULL :
			    page_index_resolution(&view->index, page, doubt);
		/* A later resolution is not of the contents asked for. */
		if (rc || *out ||
		    segment_view_may_change(view, page, UINT64_MAX))
			return rc;
	}
	*out = NULL;
	return 0;
}

/* In one segment. */
static int find_touch(struct segment_views *views, size_t segment,
		      uint64_t page, uint64_t doubt,
		      const struct page_change **out, struct failure *why)
{
	struct segment_view *view;
	int rc = segment_views_load(views, segment, &view, why);

	*out = NULL;
	if (rc || (view->index.steps &&
		   !page_index_resolution(&view->index, page, doubt)))
		return rc;
	rc = segment_views_packets(views, segment, &view, why);
	if (!rc)
		*out = page_changes_find(&view->touches, page, doubt);
	return rc;
}

int doubts_end(struct segment_views *views, size_t *segment, uint64_t page,
	       uint64_t doubt, const struct page_change **out,
	       struct failure *why)
{
	size_t count = recording_segments(views->recording);

	for (;; ++*segment) {
		struct segment_view *next;
		int rc = find_touch(views, *segment, page, doubt, out, why);

		if (rc || *out || *segment + 1 == count)
			return rc;
		rc = segment_views_load(views, *segment + 1, &next, why);
		if (rc || segment_view_doubt(next, page) != doubt)
			return rc;
	}
}

int doubts_first_known(struct segment_views *views, uint64_t doubt,
		       size_t last, size_t *out, struct failure *why)
{
	size_t low = 0, high = last;

	/* The numbers rise. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct segment_view *view;
		int rc = segment_views_load(views, middle, &view, why);

		if (rc)
			return rc;
		if (view->frame.doubt < doubt)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return 0;
}
