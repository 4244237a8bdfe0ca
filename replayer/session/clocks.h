/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - times of day, as users write them
 *
 *	[YYYY-MM-DD ]HH:MM[:SS[.FRACTION]][Z]
 *
 * A "T" may stand for the space.  It is local time, or UTC with a Z.  Without
 * a date, the first such time since something began is meant.  A text names all
 * of its last unit, the minute, the second or the part of one; the first moment
 * of that is meant.
 *
 * Units:      clocks are microseconds since 1970.
 */
#ifndef CPREC_REPLAYER_SESSION_CLOCKS_H
#define CPREC_REPLAYER_SESSION_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_text {
	bool has_date, is_utc;
	int year, month, day;	/* has_date; from 1 */
	int hour, minute, second;
	int micros;
	int64_t unit;		/* of the last digit, in microseconds */
};

/* False, with `*out` as it was, for anything else. */
bool clock_text_parse(const char *text, struct clock_text *out);

/*
 * The clock that is meant, since `first`: that itself, if it lies in the minute
 * or second that is named.
 */
int64_t clock_text_find(const struct clock_text *clock, int64_t first);

/* "2026-11-23 12:04:31.500000", in local time. */
#define CLOCK_TEXT 40
const char *clock_print(char text[CLOCK_TEXT], int64_t clock);

#endif
