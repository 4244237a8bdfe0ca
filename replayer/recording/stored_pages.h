/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_pages.h - contents of stored pages, by id
 *
 * Knows which chunk holds which page and keeps a bounded number of chunks
 * unpacked, so that the pages of one segment, which lie together, are
 * unpacked once.
 *
 * Units:      ids count from 1 in the order of the chunks; 0 means zeros.
 * Ownership:  the reader is borrowed.  A zeroed structure is an empty one.
 * Errors:     ERR_CORRUPT, ERR_NO_MEMORY, those of trace_reader_chunk().
 */
#ifndef CPREC_REPLAYER_RECORDING_STORED_PAGES_H
#define CPREC_REPLAYER_RECORDING_STORED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/page_items.h"
#include "formats/region.h"
#include "formats/trace_file.h"

struct failure;

/*
 * The pages of a chunk, and the bytes that they point to.  Most chunks have
 * few, so what is kept has no more room than it needs.
 */
struct page_items {
	uint8_t bytes[PAGE_ITEMS_BYTES];
	struct page_item list[PAGE_ITEMS_MOST];	/* only as many as there are */
};

struct page_chunk {
	uint64_t first;		/* id of its first page */
	size_t index;		/* of the chunk in the file */
	struct page_items *items;	/* unpacked, or NULL */
	bool used;		/* since the clock's hand came by */
};

/*
 * Unpacked chunks that are kept: 65 MiB.  A choice between memory and unpacking
 * a chunk again, which takes 0.1 ms or so.
 */
#define STORED_PAGES_KEPT 1024

struct page_want;

/*
 * Reads pages that are elsewhere; without it, there must be none.  Those of a
 * list are all of one process.
 */
struct page_source {
	void *context;
	int (*page)(void *context, const struct page_place *place,
		    uint8_t bytes[GUEST_PAGE], struct failure *why);
	int (*pages)(void *context, uint32_t member, struct page_want *list,
		     size_t count, struct failure *why);
};

struct stored_pages {
	struct page_source elsewhere;
	struct page_chunk *chunks;	/* sorted by id */
	size_t count, capacity;
	uint64_t last;			/* highest id there is */
	uint32_t kept[STORED_PAGES_KEPT];	/* positions in `chunks` */
	size_t kept_count, hand;	/* of the clock */
	size_t kept_most;		/* 0: STORED_PAGES_KEPT; it is at most */
	struct unpacker unpacker;
};

/* Adds the chunk `index` of the file, which holds pages; in file order. */
int stored_pages_add(struct stored_pages *store,
		     const struct trace_reader *reader, size_t index,
		     struct failure *why);

/* Position in `chunks` of the one that holds `id`; ERR_CORRUPT if none does. */
int stored_pages_find(const struct stored_pages *store,
		      const struct trace_reader *reader, uint64_t id,
		      size_t *position, struct failure *why);

/* Unpacks the chunk at a position. */
int stored_pages_unpack(const struct stored_pages *store,
			const struct trace_reader *reader, size_t position,
			struct unpacker *unpacker, struct page_items *to,
			struct failure *why);

/* What is said of a page with more patches than there may be. */
int stored_pages_too_many(const struct trace_reader *reader, uint64_t id,
			  struct failure *why);

/* Changes a page by one that is elsewhere; `id` is what names that here. */
int stored_pages_apply(const struct stored_pages *store,
		       const struct trace_reader *reader, uint64_t id,
		       const struct page_place *place,
		       uint8_t bytes[GUEST_PAGE], struct failure *why);

/* Copies a page; an id that is not there is ERR_CORRUPT. */
int stored_pages_read(struct stored_pages *store,
		      const struct trace_reader *reader, uint64_t id,
		      uint8_t bytes[GUEST_PAGE], struct failure *why);

void stored_pages_release(struct stored_pages *store);

#endif
