/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_groups.h - pages that lie together are stored whole together
 *
 * A page that is stored as a patch needs its base, and so on down to a whole
 * page.  A chunk is unpacked as a whole.  If each page were stored whole when
 * it has patches enough, the chunks that a few pages need would be mostly full
 * of outdated contents.  So the pages of a group begin anew (are stored whole)
 * at one time, those included that have not changed since the last snapshot.
 * Measured, with the list of all pages: questions about programs that change
 * pages all over their memory take a third to a tenth of what they took.
 *
 * Units:      pages are guest address / GUEST_PAGE; a turn is the number of a
 *             snapshot, from 1.
 * Ownership:  page_groups_release() frees; a zeroed structure is empty.
 * Errors:     none but NULL for: out of memory.
 */
#ifndef CPREC_RECORDER_PAGE_GROUPS_H
#define CPREC_RECORDER_PAGE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"

#define PAGE_GROUP UINT64_C(64)	/* pages, as the items of a chunk */

/* "Stored" means here: stored because it changed. */
struct page_group {
	uint64_t turn;		/* in which one of its pages was stored last */
	uint64_t began;		/* turn in which it began anew; 0: at the start */
	uint64_t began_before;	/* the same, the time before */
	uint64_t stores;	/* of its pages since then */
	uint64_t pages;		/* that these are of */
};

struct page_groups {
	struct number_map places;	/* page / PAGE_GROUP to position */
	struct page_group *list;
	size_t count, room;
};

/* The group of a page that is stored in a turn; the group may begin anew. */
struct page_group *page_groups_store(struct page_groups *groups, uint64_t page,
				     uint64_t turn);

/* The group of a page, if it began anew in that turn; else NULL. */
struct page_group *page_groups_begun(const struct page_groups *groups,
				     uint64_t page, uint64_t turn);

void page_groups_release(struct page_groups *groups);

#endif
