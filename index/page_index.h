/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_index.h - answers from the page level of the summarization index
 *
 * For one segment it says, without executing anything, whether a page can
 * have changed before a time, and what became known of a doubtful one.
 *
 * Source: US 7,620,938 B2: summarization index.
 *
 * Units:      times are steps since the segment's key frame; pages are guest
 *             address / GUEST_PAGE.
 * Ownership:  the index is borrowed.
 */
#ifndef CPREC_INDEX_PAGE_INDEX_H
#define CPREC_INDEX_PAGE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/key_frame.h"

/*
 * Whether the contents of `page` at `time` are certainly those that it had at
 * the key frame (or, if it was doubtful there, those that its first touch
 * found).  Mappings that change are not in this index.
 */
bool page_index_is_unchanged(const struct segment_index *index, uint64_t page,
			     uint64_t time);

/* Whether the segment may touch the page at all. */
bool page_index_is_touched(const struct segment_index *index, uint64_t page);

/*
 * Whether the segment may touch any page from `first` to `last`: also if it has
 * no index, because the recording ends early.
 */
bool page_index_may_touch(const struct segment_index *index, uint64_t first,
			  uint64_t last);

/* The same, of those that write it. */
bool page_index_may_write(const struct segment_index *index, uint64_t first,
			  uint64_t last);

/* The touch that resolved this doubt of the page; NULL if none did. */
const struct page_touch *page_index_resolution(
	const struct segment_index *index, uint64_t page, uint64_t doubt);

#endif
