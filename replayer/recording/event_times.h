/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_times.h - when the events that positions count happen, in one segment
 *
 * Whoever asks for many positions of a segment would read its packets for each.
 * So they are read once and kept, from the second question on.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  they are the recording's; recording_close() frees them.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_EVENT_TIMES_H
#define CPREC_REPLAYER_RECORDING_EVENT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct recording;

/* The events that are counted. */
struct event_choice {
	uint64_t time;
	uint32_t most;		/* so many are looked at */
	bool is_of_one;		/* only those of `stream` */
	uint32_t stream;
};

int event_times_count(struct recording *recording, size_t segment,
		      const struct event_choice *choice, uint32_t *out,
		      struct failure *why);

#endif
