/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clocks.c - see clocks.h */
#include "replayer/races/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

/* Mentions `count` threads, those that are new with 0. */
static int mention(struct clock *clock, uint32_t count)
{
	if (count > clock->room) {
		uint32_t room = count < 4 ? 4 : count + count / 2;
		uint32_t *more = realloc(clock->counts, room * sizeof(*more));

		if (!more)
			return ERR_NO_MEMORY;
		clock->counts = more;
		clock->room = room;
	}
	if (count > clock->count) {
		memset(clock->counts + clock->count, 0,
		       (count - clock->count) * sizeof(*clock->counts));
		clock->count = count;
	}
	return 0;
}

int clock_set(struct clock *clock, uint32_t thread, uint32_t count)
{
	int rc = mention(clock, thread + 1);

	if (!rc)
		clock->counts[thread] = count;
	return rc;
}

int clock_join(struct clock *clock, const struct clock *other)
{
	int rc = mention(clock, other->count);

	for (uint32_t i = 0; i < other->count && !rc; i++)
		if (clock->counts[i] < other->counts[i])
			clock->counts[i] = other->counts[i];
	return rc;
}

int clock_copy(struct clock *clock, const struct clock *other)
{
	int rc = mention(clock, other->count);

	if (rc)
		return rc;
	if (other->count)
		memcpy(clock->counts, other->counts,
		       other->count * sizeof(*other->counts));
	clock->count = other->count;
	return 0;
}

void clock_release(struct clock *clock)
{
	free(clock->counts);
	*clock = (struct clock) { 0 };
}
