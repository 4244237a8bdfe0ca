/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment_view.h - what is known of one segment without executing it
 *
 * Its key frame, its index and, when they are asked for, those of its packets
 * that say what became of pages.  Pages that the process has several times are
 * asked for as common pages.
 *
 * Units:      times are steps since the segment's start.
 * Ownership:  segment_view_release() frees; a zeroed view is an empty one.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_INDEX_SEGMENT_VIEW_H
#define CPREC_INDEX_SEGMENT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "replayer/recording/recording.h"

/* Something that happened to pages. */
struct page_change {
	uint64_t time;
	uint32_t events;	/* of that time in the segment, its own included */
	guest_addr addr;
	uint64_t size;
	uint64_t doubt;		/* number of one that began or ended; 0: they
				   were mapped, unmapped, moved, cleared */
};

struct page_changes {
	struct page_change *list;	/* as they happened */
	size_t count, room;
};

struct segment_view {
	bool has_frame, loaded, has_packets;
	uint64_t used;		/* counts: when it was asked for last */
	struct key_frame frame;	/* but for its pages and cache */
	struct segment_index index;
	struct page_changes changes;	/* of mappings, and new doubts */
	struct page_changes touches;	/* of doubtful pages; the time is that
					   of the event before */
};

/*
 * Have the key frame there; the key frame and the index; all of it.  What is
 * there is not read again.
 */
int segment_view_frame(struct segment_view *view, struct recording *recording,
		       size_t segment, struct failure *why);
int segment_view_load(struct segment_view *view, struct recording *recording,
		      size_t segment, struct failure *why);
int segment_view_packets(struct segment_view *view,
			 struct recording *recording, size_t segment,
			 struct failure *why);
void segment_view_release(struct segment_view *view);

/* Bytes that it takes. */
size_t segment_view_size(const struct segment_view *view);

/* What the key frame says of a page. */
const struct region *segment_view_region(const struct segment_view *view,
					 uint64_t page);
uint64_t segment_view_doubt(const struct segment_view *view, uint64_t page);

/* Whether the page's mapping or doubt may have changed by then. */
bool segment_view_may_change(const struct segment_view *view, uint64_t page,
			     uint64_t time);

/* Whether it is mapped, moved, cleared or unmapped. */
bool segment_view_is_remapped(const struct segment_view *view, uint64_t page);

/*
 * The epochs, of 1 << shift steps, in which its mapping or doubt changes, a bit
 * each; see lines.h.
 */
uint64_t segment_view_epochs(const struct segment_view *view, uint64_t page,
			     unsigned shift);

/* Whether it does behind `events` of that time. */
bool segment_view_changes_after(const struct segment_view *view, uint64_t page,
				uint64_t time, uint32_t events);

/* Finds a page's change with this doubt in one of the lists; or NULL. */
const struct page_change *page_changes_find(const struct page_changes *changes,
					    uint64_t page, uint64_t doubt);

/* The newest doubt of the page before this one, in the list; or 0. */
uint64_t page_changes_before(const struct page_changes *changes, uint64_t page,
			     uint64_t doubt);

#endif
