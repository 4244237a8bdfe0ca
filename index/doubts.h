/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doubts.h - where doubts of pages begin and end, through the segments
 *
 * A page that became doubtful is known again where something first touched it,
 * which may be many segments later.  Until then, all key frames name the doubt:
 * so few of them tell which segment that is, however many there are.
 *
 * The views of segments are loaded as they are needed, and kept until
 * segment_views_trim() finds that they are too many.
 *
 * Units:      pages are guest address / GUEST_PAGE; segments count from 0.
 * Ownership:  segment_views_release() frees; the recording is borrowed.  What
 *             is found is borrowed from the views, until they are trimmed.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_INDEX_DOUBTS_H
#define CPREC_INDEX_DOUBTS_H

#include <stddef.h>
#include <stdint.h>

#include "index/segment_view.h"

/* The views of all segments of a recording. */
struct segment_views {
	struct recording *recording;
	struct segment_view *list;
	uint64_t size;		/* bytes that they take */
	uint64_t uses;		/* counts */
};

int segment_views_init(struct segment_views *views,
		       struct recording *recording, struct failure *why);
void segment_views_release(struct segment_views *views);

/*
 * Forgets those that were asked for longest ago, if all take much memory.
 * Nothing may be borrowed.
 */
void segment_views_trim(struct segment_views *views);

/* The view of a segment; with its packets. */
int segment_views_load(struct segment_views *views, size_t segment,
		       struct segment_view **out, struct failure *why);
int segment_views_packets(struct segment_views *views, size_t segment,
			  struct segment_view **out, struct failure *why);

/*
 * Finds what a doubtful page held in what a touch found, in `*segment` or one
 * behind it, which `*segment` then is.  NULL if no touch tells.
 */
int doubts_resolution(struct segment_views *views, size_t *segment,
		      uint64_t page, uint64_t doubt,
		      const struct page_touch **out, struct failure *why);

/* The same: when the touch was that ends the doubt. */
int doubts_end(struct segment_views *views, size_t *segment, uint64_t page,
	       uint64_t doubt, const struct page_change **out,
	       struct failure *why);

/* The first segment, up to `last`, whose key frame knows a doubt's number. */
int doubts_first_known(struct segment_views *views, uint64_t doubt,
		       size_t last, size_t *out, struct failure *why);

#endif
