/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - what the clock on the wall said while a program was recorded
 *
 * The recorder looked at it now and then, and before the program waited.
 * Between two looks time is taken to pass evenly; so what is found is a few
 * milliseconds off at most where the program ran all the time.
 *
 * Units:      times are retired instructions; clocks are microseconds since
 *             1970.
 * Errors:     ERR_NOT_FOUND: the recording does not say; those of recording.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_CLOCK_H
#define CPREC_REPLAYER_RECORDING_CLOCK_H

#include <stdint.h>

struct failure;
struct recording;

/* The first and the last time that it says. */
int recording_clock_range(struct recording *recording, int64_t *first,
			  int64_t *last, struct failure *why);

/* When the clock came to a moment: the first time, if it was set back. */
int recording_time_at_clock(struct recording *recording, int64_t clock,
			    uint64_t *out, struct failure *why);

/* What it said at a time. */
int recording_clock_at(struct recording *recording, uint64_t t, int64_t *out,
		       struct failure *why);

#endif
