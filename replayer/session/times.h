/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times.h - the one way in which users write times
 *
 *	[TID:]BASE[+N|-N][.K]
 *
 * BASE is a number of instructions, "start", "end", a share of the recording
 * ("50%", "12.5%") or "output:N", where the N-th line was written.  N more or
 * fewer instructions, and K of the events that happen there.  Behind "TID:",
 * instructions are those of one thread.  Numbers are decimal or 0x-hex, also
 * with k, m or g for thousands, millions or billions: "5k", "1.5m".  BASE may
 * also be the name of a bookmark, without ".K" and not of a thread.
 *
 * A time of day (clocks.h) is a time too, without anything behind it.  Hours and
 * minutes alone may also be a thread and a number: "14:52".
 *
 * What a text means depends on the recording; places.h finds it.
 */
#ifndef CPREC_REPLAYER_SESSION_TIMES_H
#define CPREC_REPLAYER_SESSION_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/bookmarks.h"
#include "replayer/session/clocks.h"
#include "replayer/session/numbers.h"

/* What a time is counted from. */
enum time_base {
	TIME_NUMBER,
	TIME_START,
	TIME_END,
	TIME_SHARE,
	TIME_OUTPUT,
	TIME_CLOCK,
	TIME_BOOKMARK,
};

struct time_text {
	bool has_thread;
	uint32_t tid;		/* has_thread */
	enum time_base base;
	uint64_t number;	/* TIME_NUMBER; TIME_OUTPUT: the line, from 1 */
	struct decimal share;	/* TIME_SHARE: percent, at most 100 */
	struct clock_text clock;	/* TIME_CLOCK, or may_be_clock */
	char name[BOOKMARK_NAME_ROOM];	/* TIME_BOOKMARK */
	bool may_be_clock;	/* has_thread: if there is no such thread */
	bool is_minus;
	uint64_t offset;
	uint32_t events;
	bool is_last;		/* "end" alone is behind all events */
};

/* False, with `*out` as it was, for anything else. */
bool time_text_parse(const char *text, struct time_text *out);

/* How long a share of something is. */
uint64_t time_text_share(const struct decimal *percent, uint64_t whole);

/* The other way round, in tenths of a percent: 1000 is all of it alone. */
unsigned time_tenths(uint64_t part, uint64_t whole);

#endif
