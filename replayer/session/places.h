/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - times and addresses of a recording, as users write them
 *
 * "50%" is another time in each recording, "libc.so.6!environ+8" another
 * address at each time; what stands in the text alone, numbers.h says.
 *
 * Ownership:  everything is borrowed.
 * Errors:     ERR_INPUT (the text makes no sense, or is outside the recording),
 *             ERR_NOT_FOUND (no such thread or symbol), those of recording.h.
 */
#ifndef CPREC_REPLAYER_SESSION_PLACES_H
#define CPREC_REPLAYER_SESSION_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;

/* What a wrong text should have been, for messages. */
#define PLACE_TIME_WANTED \
	"a time like 5000, 5000.1, 2m, 'start', 'end-1', '50%', 'output:3'," \
	" 'TID:5000' or, of day, '12:04:31.5'"

/* Whether a text is a time of whatever recording. */
bool place_may_be_time(const char *text);

/*
 * Makes a position of text, from the recording's start to its end.  `*is_time`
 * is true also if it lies outside.
 */
int place_position(struct position *out, bool *is_time,
		   struct recording *recording, const char *text,
		   struct failure *why);

/* Whether a text is an address of whatever recording; says why it is none. */
int place_check_address(const char *text, struct failure *why);

#endif
