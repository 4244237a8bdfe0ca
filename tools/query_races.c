/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_races.c - see query_races.h */
#include "tools/query_races.h"

#include <stdlib.h>

#include "formats/error.h"
#include "tools/progress.h"

/* However many times are asked for, at least so many steps before each. */
#define LEAST_STEPS 500000u

/* Steps that are looked at before each time. */
static uint64_t steps_for(struct question **by_time, size_t count)
{
	uint64_t times = 1, share;

	for (size_t i = 1; i < count; i++)
		times += by_time[i]->at.time != by_time[i - 1]->at.time;
	share = QUERY_RACES_ALL_STEPS / times;
	if (share < LEAST_STEPS)
		return LEAST_STEPS;
	return share < QUERY_RACES_STEPS ? share : QUERY_RACES_STEPS;
}

/* How many of the questions are near enough to the first for one search. */
static size_t count_near(struct question **by_time, size_t count,
			 uint64_t most)
{
	size_t near = 1;

	while (near < count && by_time[near]->at.time - by_time[0]->at.time <= most)
		near++;
	return near;
}

static int search(struct race_values *values, struct recording *recording,
		  struct question **questions, size_t count, uint64_t most,
		  struct failure *why)
{
	struct progress progress;
	int rc;

	values->list = calloc(count, sizeof(*values->list));
	if (!values->list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	values->count = count;
	for (size_t i = 0; i < count; i++)
		values->list[i] = (struct race_question) {
			.addr = questions[i]->addr,
			.size = questions[i]->size,
			.at = questions[i]->at.time,
		};
	progress_start(&progress, "searching for races", 0, 0);
	rc = race_values_find(values, recording, most, progress_update,
			      &progress, why);
	progress_end(&progress);
	for (size_t i = 0; i < count && !rc; i++)
		questions[i]->race = &values->list[i];
	return rc;
}

/* The questions that can be answered, in the same order. */
static size_t leave_failed_out(struct question **to, struct question **from,
			       size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (!from[i]->has_failed && from[i]->has_memory)
			to[left++] = from[i];
	return left;
}

int query_races_find(struct query_races *out, struct recording *recording,
		     struct question **by_time, size_t count, bool all,
		     struct failure *why)
{
	struct question **left = calloc(count, sizeof(struct question *));
	uint64_t most;
	int rc = 0;

	*out = (struct query_races) { 0 };
	out->searches = calloc(count, sizeof(*out->searches));
	if (!left || !out->searches)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else
		count = leave_failed_out(left, by_time, count);
	most = rc || all ? UINT64_MAX : steps_for(left, count);
	for (size_t i = 0; i < count && !rc;) {
		size_t near = count_near(left + i, count - i, most);

		rc = search(&out->searches[out->count++], recording, left + i,
			    near, most, why);
		i += near;
	}
	free(left);
	return rc;
}

void query_races_release(struct query_races *races)
{
	for (size_t i = 0; i < races->count; i++)
		race_values_release(&races->searches[i]);
	free(races->searches);
	*races = (struct query_races) { 0 };
}
