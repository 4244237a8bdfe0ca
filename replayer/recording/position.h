/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * position.h - places in a recorded execution, finer than times
 *
 * Several events can happen between two instructions: a signal is delivered,
 * another thread gets its turn, a system call comes back.  A position is a time
 * and how many of the events that stand at it have taken effect, over all
 * threads, in recorded order.  What an instruction itself does, the results of
 * a system call among it, is no such event: it has happened when the
 * instruction has retired.  formats/trace-format.md, section 4.3, has the
 * definition.
 *
 * Units:      times are retired instructions, as in recording.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_POSITION_H
#define CPREC_REPLAYER_RECORDING_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/packet.h"

struct position {
	uint64_t time;
	uint32_t events;	/* that have taken effect, of those at `time` */
};

/* All events at a time, however many there are. */
#define EVENTS_ALL UINT32_MAX

/* Less than 0, 0 or more than 0, as the first is before the second. */
int position_compare(const struct position *a, const struct position *b);

/* "T", or "T.k" if events have taken effect. */
#define POSITION_TEXT 40
const char *position_text(char text[POSITION_TEXT],
			  const struct position *position);

/* Whether a packet is an event that positions count. */
bool position_counts(enum packet_kind kind);

#endif
