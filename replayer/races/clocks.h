/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - vector clocks: what a thread knows of the others' progress
 *
 * A clock has a count for each thread, 0 for those that it does not mention.
 * What thread A did while its own count was N happened before everything
 * that a thread does whose clock says N or more for A.
 *
 * Source: C. Flanagan, S. Freund, "FastTrack: efficient and precise dynamic
 * race detection", PLDI 2009.
 *
 * Ownership:  clock_release() frees; a zeroed clock knows of nothing.
 * Errors:     ERR_NO_MEMORY; the clock is as it was then.
 */
#ifndef CPREC_REPLAYER_RACES_CLOCKS_H
#define CPREC_REPLAYER_RACES_CLOCKS_H

#include <stdint.h>

struct clock {
	uint32_t *counts;	/* by thread */
	uint32_t count;		/* threads that are mentioned */
	uint32_t room;
};

static inline uint32_t clock_of(const struct clock *clock, uint32_t thread)
{
	return thread < clock->count ? clock->counts[thread] : 0;
}

int clock_set(struct clock *clock, uint32_t thread, uint32_t count);

/* From now on `clock` knows all that `other` knows, too. */
int clock_join(struct clock *clock, const struct clock *other);

/* From now on it knows just that. */
int clock_copy(struct clock *clock, const struct clock *other);

void clock_release(struct clock *clock);

#endif
