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

/* A view of python3 takes 35 KB, and 0.1 ms to load: a thousand fit. */
#define VIEWS_MOST (32u << 20)

static struct segment_view *least_used(const struct segment_views *views,
				       size_t count)
{
	struct segment_view *least = NULL;

	for (size_t i = 0; i < count; i++) {
		struct segment_view *view = &views->list[i];

		if (view->has_frame && (!least || view->used < least->used))
			least = view;
	}
	return least;
}

void segment_views_trim(struct segment_views *views)
{
	size_t count = recording_segments(views->recording);

	while (views->size > VIEWS_MOST) {
		struct segment_view *least = least_used(views, count);

		views->size -= segment_view_size(least);
		segment_view_release(least);
	}
}

/* Has one loaded, as far as `load` does. */
static int use(struct segment_views *views, size_t segment,
	       int (*load)(struct segment_view *view,
			   struct recording *recording, size_t segment,
			   struct failure *why),
	       struct segment_view **out, struct failure *why)
{
	struct segment_view *view = &views->list[segment];
	int rc;

	views->size -= segment_view_size(view);
	rc = load(view, views->recording, segment, why);
	views->size += segment_view_size(view);
	view->used = ++views->uses;
	*out = view;
	return rc;
}

int segment_views_load(struct segment_views *views, size_t segment,
		       struct segment_view **out, struct failure *why)
{
	return use(views, segment, segment_view_load, out, why);
}

int segment_views_packets(struct segment_views *views, size_t segment,
			  struct segment_view **out, struct failure *why)
{
	return use(views, segment, segment_view_packets, out, why);
}

/* Whether the key frame of a segment names a doubt of a page. */
static int is_open(struct segment_views *views, size_t segment, uint64_t page,
		   uint64_t doubt, bool *out, struct failure *why)
{
	struct segment_view *view;
	int rc = use(views, segment, segment_view_frame, &view, why);

	*out = !rc && segment_view_doubt(view, page) == doubt;
	return rc;
}

/*
 * The segment in which a doubt ends that is open in `*segment`, or the last
 * one.  Mostly it is near: the steps double first, and are halved then.
 */
static int find_last(struct segment_views *views, size_t *segment,
		     uint64_t page, uint64_t doubt, struct failure *why)
{
	size_t count = recording_segments(views->recording);
	size_t low = *segment, high = count, step = 1;
	bool open;
	int rc;

	/* Open in `low`; no longer in `high`. */
	while (high - low > 1) {
		size_t middle = high < count || low + step >= high ?
					low + (high - low) / 2 : low + step;

		rc = is_open(views, middle, page, doubt, &open, why);
		if (rc)
			return rc;
		if (open)
			low = middle;
		else
			high = middle;
		step *= 2;
	}
	*segment = low;
	return 0;
}

int doubts_resolution(struct segment_views *views, size_t *segment,
		      uint64_t page, uint64_t doubt,
		      const struct page_touch **out, struct failure *why)
{
	struct segment_view *view;
	int rc = 0;

	*out = NULL;
	if (*segment == recording_segments(views->recording))
		return 0;
	rc = find_last(views, segment, page, doubt, why);
	if (!rc)
		rc = segment_views_load(views, *segment, &view, why);
	if (!rc)
		*out = page_index_resolution(&view->index, page, doubt);
	return rc;
}

int doubts_end(struct segment_views *views, size_t *segment, uint64_t page,
	       uint64_t doubt, const struct page_change **out,
	       struct failure *why)
{
	struct segment_view *view;
	int rc = find_last(views, segment, page, doubt, why);

	*out = NULL;
	if (!rc)
		rc = segment_views_load(views, *segment, &view, why);
	/* A segment that was cut short has no index. */
	if (rc || (view->index.steps &&
		   !page_index_resolution(&view->index, page, doubt)))
		return rc;
	rc = segment_views_packets(views, *segment, &view, why);
	if (!rc)
		*out = page_changes_find(&view->touches, page, doubt);
	return rc;
}

int doubts_first_known(struct segment_views *views, uint64_t doubt,
		       size_t last, size_t *out, struct failure *why)
{
	size_t low = 0, high = last;

	/* The numbers rise. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct segment_view *view;
		int rc = use(views, middle, segment_view_frame, &view, why);

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
