/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_versions.h - which stored page a guest page was, as of some segments
 *
 * The snapshot lists of successive key frames, merged: a hash table from page
 * to its newest version, each version linked to the one before.  The first of
 * them says all pages; lists are added in the order of their segments, as far
 * as somebody asks, so that the newest version is mostly the answer.
 *
 * Units:      pages are guest address / GUEST_PAGE.
 * Ownership:  page_versions_release() frees; a zeroed structure is empty.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RECORDING_PAGE_VERSIONS_H
#define CPREC_REPLAYER_RECORDING_PAGE_VERSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/number_map.h"

struct page_version;

struct page_versions {
	struct page_version *list;
	uint32_t count, capacity;
	struct number_map newest;	/* page to 1 + position in `list` */
	uint32_t first, end;	/* segments whose lists were added */
};

/* Forgets all; the list that is added next is of `segment`. */
void page_versions_begin(struct page_versions *versions, uint32_t segment);

/* Adds the list of the next segment. */
int page_versions_add(struct page_versions *versions,
		      const struct page_ref *refs, size_t count);

/*
 * The stored page of `page` as of the key frame of `segment`, whose list must
 * have been added; 0 if no list up to there names it.
 */
uint64_t page_versions_find(const struct page_versions *versions,
			    uint32_t segment, uint64_t page);

void page_versions_release(struct page_versions *versions);

#endif
