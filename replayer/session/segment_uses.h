/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment_uses.h - which parts of a segment may have accessed some memory
 *
 * The page level of the index says whether a segment
 * may; the fine level, if it is there, in which epochs (index/lines.h).
 *
 * Ownership:  all is the caller's.
 * Errors:     ERR_NO_MEMORY, those of recording.h.
 */
#ifndef CPREC_REPLAYER_SESSION_SEGMENT_USES_H
#define CPREC_REPLAYER_SESSION_SEGMENT_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"

struct failure;
struct query;

/* Where a segment begins, before what happens in it; or the recording's end. */
int segment_begin(struct query *query, size_t segment, struct position *out,
		  struct failure *why);

struct segment_use {
	guest_addr addr;
	uint64_t size;		/* at least 1 */
	bool reads;		/* not only writes */
};

struct segment_uses {
	bool everywhere;	/* memory may move: accesses to any may count */
	bool is_whole;		/* the epochs are not known */
	bool learns;		/* and are wanted for the next time */
	uint64_t epochs;	/* a bit each; 0: there is no such access */
	unsigned shift;		/* of 1 << shift steps */
	uint64_t start;		/* time of the segment */
};

int segment_uses_find(struct segment_uses *out, struct query *query,
		       const struct segment_use *range, size_t segment,
		       struct failure *why);

/*
 * The first stretch of epochs that are there, from `*first` on; `last` may be
 * NULL.
 */
bool segment_uses_next(const struct segment_uses *parts, unsigned *first,
			unsigned *last);

/* The last epoch that is there and begins before this time. */
bool segment_uses_last(const struct segment_uses *parts, uint64_t time,
			unsigned *last);

/* The last one that is there before another epoch. */
bool segment_uses_before(const struct segment_uses *parts, unsigned epoch,
			  unsigned *out);

/* Narrows the bounds of a segment to a stretch of epochs, both included. */
void segment_uses_bound(const struct segment_uses *parts, unsigned first,
			 unsigned last, struct position *from,
			 struct position *to);

#endif
