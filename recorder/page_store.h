/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_store.h - each distinct page content is stored once
 *
 * Gives contents their ids (key_frame.h) and remembers which id each guest
 * page had in the newest snapshot, so that a snapshot lists only changes.
 * Contents that another process of the family has stored get an id, too, but
 * only their place is put into the batch.
 *
 * Units:      pages are guest address / GUEST_PAGE; id 0 is the page of zeros.
 * Ownership:  page_store_release() frees all; a zeroed store is empty.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_RECORDER_PAGE_STORE_H
#define CPREC_RECORDER_PAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/number_map.h"
#include "formats/page_hash.h"
#include "formats/page_items.h"
#include "recorder/bases.h"
#include "recorder/page_groups.h"
#include "recorder/page_sharing.h"

struct page_store {
	/* Open addressing; place 0 marks a free slot. */
	struct stored {
		struct page_key key;
		uint64_t place;	/* family_table.h; with PLACE_MIXED */
	} *stored;
	size_t stored_room, stored_count;

	struct number_map current;	/* the newest snapshot: page to id */
	struct bases bases;		/* of patches */
	struct page_groups groups;

	uint32_t number;	/* of this process in its family */
	struct page_sharing sharing;
	struct page_sharing *inherited;	/* of the parent, whose ids `current`
					   still has; else NULL */
	uint32_t inherited_from;

	uint64_t next_id;	/* of the next new content; from 1 */
	uint64_t unlike;	/* contents stored whole because no patch was
				   small enough, or there was no base */
	uint64_t batch_first;	/* id of the first page in `batch` */
	struct page_batch batch;	/* contents that are in no chunk yet */
	struct page_key keys[PAGE_ITEMS_MOST];	/* of those, if they are here */
};

int page_store_init(struct page_store *store);
void page_store_release(struct page_store *store);

/*
 * The id of a content; a new one is added to the batch, as a patch if `page`
 * had a content before that is little different.  The caller writes the batch
 * out when page_batch_is_full().
 */
int page_store_add(struct page_store *store, uint64_t page,
		   const uint8_t *bytes, uint64_t *id);

/*
 * Whether a content is stored already, and under which id; if another process
 * has, this may add to the batch, too.
 */
bool page_store_has(struct page_store *store, const uint8_t *bytes,
		    uint64_t *id);

/* From now on, contents that others have in the table are not stored. */
void page_store_share(struct page_store *store, struct family_table *table);

/*
 * This is the store of a child now, which has that number: all contents of its
 * parent are elsewhere.  Those that the newest snapshot has are the child's,
 * too, once they get an id here.
 */
int page_store_inherit(struct page_store *store, uint32_t number);
int page_store_inherit_page(struct page_store *store, uint64_t page,
			    uint64_t *id);

/* Whether the parent's store has a page in a way that cannot be named. */
bool page_store_is_mixed(const struct page_store *store, uint64_t page);
void page_store_end_inheriting(struct page_store *store);

/* Whether the group of a page has begun anew in this snapshot. */
bool page_store_begins(const struct page_store *store, uint64_t page);

/*
 * If the group has, and the page has not changed since the last snapshot but
 * since its group began before: stores it whole.  Returns the new id, or 0.
 */
uint64_t page_store_begin(struct page_store *store, uint64_t page);

/* The id that a page has in the newest snapshot; 0 if it is in none. */
uint64_t page_store_current(const struct page_store *store, uint64_t page);
int page_store_set_current(struct page_store *store, uint64_t page,
			   uint64_t id);

/* Visits the pages of [first, first + count) that are not zeros. */
void page_store_each(const struct page_store *store, uint64_t first,
		     uint64_t count,
		     void (*visit)(void *context, uint64_t page),
		     void *context);

#endif
