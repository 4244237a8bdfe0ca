/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_items.h - stored pages in a chunk: whole, or as patches
 *
 * A page that changed a little since it was stored is stored as a patch: which
 * of its 8-byte words differ from those of its base, a page that was stored
 * before, and by what (exclusive or).  The base may be a patch itself, but a
 * whole page is not far.  A page that another process of the family has stored
 * is only named.  formats/trace-format.md, section 7.
 *
 * Units:      ids count stored pages, from 1; words are 8 bytes.
 * Ownership:  decoded items point into the content.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT.
 */
#ifndef CPREC_FORMATS_PAGE_ITEMS_H
#define CPREC_FORMATS_PAGE_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

/* Of a chunk: the unit of fetching.  The bytes are of pages and patches. */
#define PAGE_ITEMS_MOST 1024
#define PAGE_ITEMS_HERE 64		/* that are not elsewhere */
#define PAGE_ITEMS_PAGES 65536u
#define PAGE_ITEMS_BYTES (PAGE_ITEMS_PAGES + 8 * PAGE_ITEMS_MOST)	/* content */

/* Patches between a page and the whole one that they begin with, at most. */
#define PATCHES_MOST 15

/* Words of a page, and bytes of a set of them. */
#define PAGE_WORDS 512
#define PAGE_MASK (PAGE_WORDS / 8)

/* Where another process has stored a page: there it is not named only. */
struct page_place {
	uint32_t member;	/* number of the process: member.h; 0: none */
	uint64_t id;		/* there */
};

#define PAGE_PLACE_MEMBERS (1u << 23)		/* numbers are below */
#define PAGE_PLACE_IDS (UINT64_C(1) << 40)	/* and ids */

struct page_item {
	uint64_t base;		/* id of the page that it patches; 0: none */
	const uint8_t *bytes;	/* the page; or the mask, and then the words;
				   NULL: it is elsewhere */
	struct page_place place;	/* then: where */
};

/* Which words of a page differ from its base. */
struct page_patch {
	uint64_t mask[PAGE_MASK / 8];
	unsigned count;
	uint64_t words[PAGE_WORDS];	/* exclusive or, of those that differ */
};

/* Compares; false if more than `most` words differ. */
bool page_patch_make(struct page_patch *out, const uint8_t *base,
		     const uint8_t *page, unsigned most);

/* Contents for one chunk.  Zeroed, it is empty. */
struct page_batch {
	struct output pages;		/* whole or patches */
	uint64_t distances[PAGE_ITEMS_MOST];	/* to the base; 0: whole; or
						   where it is stored */
	uint32_t count;
	uint32_t here;		/* of these, not elsewhere */
	uint64_t place_id;	/* of the newest page that is elsewhere */
};

/* Adds a page that the batch has room for: it is not full. */
void page_batch_add(struct page_batch *batch, const uint8_t *page);
void page_batch_add_patch(struct page_batch *batch,
			  const struct page_patch *patch, uint64_t distance);

void page_batch_add_place(struct page_batch *batch,
			  const struct page_place *place);

bool page_batch_is_full(const struct page_batch *batch);

/* Completes the content of the chunk, which the caller takes from `pages`. */
void page_batch_end(struct page_batch *batch);

/*
 * Finds the `count` items of a content; the first has the id `first`.  What is
 * left over is ERR_CORRUPT, and a base that does not come before its patch.
 */
int page_items_decode(struct page_item items[PAGE_ITEMS_MOST], size_t count,
		      uint64_t first, const uint8_t *content, size_t size);

/*
 * Changes a page by an item that is here.  Zeros become the page that is made of a whole one
 * and the patches on top of it when these change them, in any order.
 */
void page_item_apply(const struct page_item *item, uint8_t *page);

/* The same by a whole page. */
void page_apply(const uint8_t *whole, uint8_t *page);

#endif
