/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_parts.h - which parts of a segment may have accessed memory
 *
 * Private to this room.  The page level of the index says whether a segment
 * may; the fine level, if it is there, in which epochs (index/lines.h).
 *
 * Ownership:  all is the caller's.
 * Errors:     ERR_NO_MEMORY, those of recording.h.
 */
#ifndef CPREC_REPLAYER_SESSION_HISTORY_PARTS_H
#define CPREC_REPLAYER_SESSION_HISTORY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"

struct failure;
struct query;

/* What is asked for. */
struct history_range {
	guest_addr addr;
	uint64_t size;
	bool reads;		/* not only writes */
};

struct history_parts {
	bool everywhere;	/* memory may move: accesses to any may count */
	bool is_whole;		/* the epochs are not known */
	bool learns;		/* and are wanted for the next time */
	uint64_t epochs;	/* a bit each; 0: it has not */
	unsigned shift;		/* of 1 << shift steps */
	uint64_t start;		/* time of the segment */
};

int history_parts_find(struct history_parts *out, struct query *query,
		       const struct history_range *range, size_t segment,
		       struct failure *why);

/*
 * The first stretch of epochs that are there, from `*first` on; `last` may be
 * NULL.
 */
bool history_parts_next(const struct history_parts *parts, unsigned *first,
			unsigned *last);

/* The last epoch that is there and begins before this time. */
bool history_parts_last(const struct history_parts *parts, uint64_t time,
			unsigned *last);

/* Narrows the bounds of a segment to a stretch of epochs, both included. */
void history_parts_bound(const struct history_parts *parts, unsigned first,
			 unsigned last, struct position *from,
			 struct position *to);

#endif
