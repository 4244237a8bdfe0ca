/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_races.h - looks for values that threads raced for, of many questions
 *
 * A search executes the recording twice, slowly.  Unless all is to be looked
 * at, it begins shortly before the time of the question; a recording with one
 * thread needs none.
 *
 * Ownership:  query_races_release() frees; a zeroed structure is empty.  The
 *             questions point into it.
 * Errors:     those of race_values.h.
 * Threads:    no other replayer may exist meanwhile.
 */
#ifndef CPREC_TOOLS_QUERY_RACES_H
#define CPREC_TOOLS_QUERY_RACES_H

#include <stdbool.h>
#include <stddef.h>

#include "replayer/races/races.h"
#include "tools/questions.h"

/* Steps that are looked at before each time, and in all, if nothing is said. */
#define QUERY_RACES_STEPS 10000000u
#define QUERY_RACES_ALL_STEPS 40000000u

struct query_races {
	struct race_values *searches;
	size_t count;
};

/* `by_time` is sorted by time, but for those that have failed. */
int query_races_find(struct query_races *out, struct recording *recording,
		     struct question **by_time, size_t count, bool all,
		     struct failure *why);
void query_races_release(struct query_races *races);

#endif
