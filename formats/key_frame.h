/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_frame.h - key frames, snapshots, page contents and the page index
 *
 * A key frame holds all that is needed to start replaying at its time, but
 * for memory contents, which are found page by page: the newest snapshot list
 * at or before the key frame that names the page says which stored page it
 * is; a page that no list names is zeros, unless it is doubtful.
 *
 * The first key frame of a segment, in file order, holds what belongs to the
 * process: regions, doubts, the snapshot list.  Its stream is the thread that
 * runs then.  Key frames of other threads have these lists empty; there is one
 * for each thread that ran in the segment before, and for each that begins in
 * this one (at its own time).  A thread without one stands where its newest
 * key frame of an earlier segment says.
 *
 * Page id 0 is the page of zeros and is never stored; ids count up from 1 in
 * the order of the chunks that hold them (page_items.h).
 *
 * Units:      pages are guest address / GUEST_PAGE.
 * Ownership:  *_release() frees what *_decode() or a caller put in; a zeroed
 *             structure is an empty one.  Names are owned by the frame.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_KEY_FRAME_H
#define CPREC_FORMATS_KEY_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/region.h"
#include "formats/registers.h"

/* Lists longer than this are not written (64 GiB of pages). */
#define KEY_FRAME_LIST_MAX (UINT64_C(1) << 24)

/* Doubtful pages: their contents are not known until they are touched. */
struct doubt_range {
	uint64_t page, count;
	uint64_t number;	/* of the doubt, as in packets; at least 1 */
};

/* One line of a snapshot list: from this key frame on, `page` is `id`. */
struct page_ref {
	uint64_t page;
	uint64_t id;
};

struct key_frame {
	uint64_t time;		/* steps of all threads before it */
	uint64_t steps;		/* of this stream's thread */
	uint64_t doubt;		/* number of the newest doubt */
	uint32_t tid;		/* the guest's number of the thread */
	unsigned cache_entries;	/* size of the prediction cache */
	struct reg_file regs;

	struct region *regions;		/* sorted, not overlapping */
	size_t region_count;
	struct doubt_range *doubts;	/* sorted by page */
	size_t doubt_count;
	struct page_ref *pages;		/* snapshot list, sorted by page */
	size_t page_count;

	/* The prediction cache, if storing it paid: the bytes of its words,
	 * cache_entries * 8.  If `cache_size` is 0 it was flushed. */
	uint8_t *cache;
	size_t cache_size;

	char *names;		/* backing store of the regions' names */
};

void key_frame_encode(struct output *out, const struct reg_table *table,
		      const struct key_frame *frame);
int key_frame_decode(struct key_frame *out, const struct reg_table *table,
		     const uint8_t *bytes, size_t size);
void key_frame_release(struct key_frame *frame);

/*
 * CHUNK_SNAPSHOT: the snapshot lists up to a key frame in one, without the
 * pages of zeros, so that a reader need not begin at the first.  The caller
 * frees the decoded list.
 */
void page_refs_encode(struct output *out, const struct page_ref *list,
		      size_t count);
int page_refs_decode(struct page_ref **list, size_t *count,
		     const uint8_t *bytes, size_t size);

/*
 * What a segment did to pages, as far as faults show it for nothing.
 */
struct page_touch {
	uint64_t page;
	unsigned how;		/* PAGE_WAS_READ, PAGE_WAS_WRITTEN, ... */
	uint64_t write_time;	/* steps into the segment before which the page
				   was certainly not written; 0 if not known */
	uint64_t doubt;		/* PAGE_WAS_RESOLVED: number of the doubt */
	uint64_t resolved_id;	/* PAGE_WAS_RESOLVED: stored page, or 0 */
};

enum page_how {
	PAGE_WAS_READ = 1,
	PAGE_WAS_WRITTEN = 2,	/* by the guest, the kernel or a mapping */
	PAGE_WAS_RESOLVED = 4,	/* was doubtful and became known, as stored page */
};

/* In a list sorted by page: the first of `page`, or where it would be. */
size_t page_touches_find(const struct page_touch *list, size_t count,
			 uint64_t page);

/* The page level of the summarization index, for one segment. */
struct segment_index {
	uint64_t steps;		/* length of the segment */
	struct page_touch *pages;	/* sorted by page, then doubt */
	size_t page_count;
	bool only_writes;	/* of a machine: what is read is not in it */
};

void segment_index_encode(struct output *out, const struct segment_index *index);
int segment_index_decode(struct segment_index *out, const uint8_t *bytes,
			 size_t size);
void segment_index_release(struct segment_index *index);

#endif
