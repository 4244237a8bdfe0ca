/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshots.h - memory as of the key frames, and the contents of stored pages
 */
#ifndef CPREC_REPLAYER_RECORDING_SNAPSHOTS_H
#define CPREC_REPLAYER_RECORDING_SNAPSHOTS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/page_want.h"

struct failure;
struct recording;

/*
 * Which stored page holds `page` as of the key frame of `segment`, by the
 * chain of snapshot lists.  0 if none does (zeros, doubtful or not mapped).
 */
int recording_snapshot(struct recording *recording, size_t segment,
		       uint64_t page, uint64_t *id, struct failure *why);

/* The contents of a stored page; id 0 gives zeros. */
int recording_page(struct recording *recording, uint64_t id,
		   uint8_t bytes[GUEST_PAGE], struct failure *why);

/*
 * The contents of many pages, which costs less for each than of one, with the
 * help of other threads.  Sorts the list.
 */
int recording_read_pages(struct recording *recording, struct page_want *list,
			 size_t count, struct failure *why);

#endif
