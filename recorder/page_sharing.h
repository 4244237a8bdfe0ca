/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_sharing.h - stored pages that are in recordings of other processes
 *
 * What a recording does not store because another process of the family has:
 * which ids of its own stand for which places (family_table.h), and what
 * numbers it gives to those processes (formats/member.h).
 *
 * Ownership:  page_sharing_release() frees; a zeroed structure is that of a
 *             process that shares nothing.  The table is borrowed.
 * Errors:     NULL, false or 0 when out of memory.
 */
#ifndef CPREC_RECORDER_PAGE_SHARING_H
#define CPREC_RECORDER_PAGE_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/page_items.h"
#include "recorder/family_table.h"

/*
 * Instead of a place: a patch that is here, on top of a page that is elsewhere.
 * Others cannot name it: what they name must be in one file.
 */
#define PLACE_MIXED (UINT64_C(1) << 63)

/* A stored page that is elsewhere, or in part. */
struct shared_page {
	uint64_t id;		/* of this recording */
	uint64_t place;
};

struct page_sharing {
	struct family_table *table;	/* NULL: nothing is shared */

	struct number_map ids;		/* by place */
	struct shared_page *pages;	/* the same, sorted by id */
	size_t page_count, page_room;

	struct number_map members;	/* from the table's numbers to ours */
	uint32_t *numbers;		/* the other way round, from 1 */
	size_t member_count, member_room;
	size_t members_written;		/* that are in the file */
};

/* The id of a place; 0 if it has none. */
uint64_t page_sharing_id(const struct page_sharing *sharing, uint64_t place);

/* Gives a place an id, the highest one until now. */
bool page_sharing_add(struct page_sharing *sharing, uint64_t id,
		      uint64_t place);

/* Says that an id, the highest one until now, is PLACE_MIXED. */
bool page_sharing_mix(struct page_sharing *sharing, uint64_t id);

/* The place of an id; 0 if the page is here. */
uint64_t page_sharing_place(const struct page_sharing *sharing, uint64_t id);

/* Our number for the process of a place; 0: out of memory, or of numbers. */
uint32_t page_sharing_member(struct page_sharing *sharing, uint64_t place);

void page_sharing_release(struct page_sharing *sharing);

#endif
