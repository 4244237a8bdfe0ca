/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * positions.h - positions of a recording, and the segments that hold them
 *
 * Where key frames are does not matter for a position.  It does for who replays
 * one: a `struct segment_position` is the same among the events of a segment.
 *
 * Units:      times are retired instructions, as in recording.h.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_POSITIONS_H
#define CPREC_REPLAYER_RECORDING_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/position.h"

struct failure;
struct recording;

struct segment_position {
	size_t segment;
	uint64_t time;		/* of the recording, not of the segment */
	uint32_t events;	/* of those in this segment */
};

/*
 * Which segment holds a position: one that some events come before, the other
 * behind, is in two; it is in the later one then, at its key frame.
 */
int recording_place(struct recording *recording,
		    const struct position *position,
		    struct segment_position *out, struct failure *why);

/* How many events stand at a time. */
int recording_events_at(struct recording *recording, uint64_t t,
			uint32_t *out, struct failure *why);

/* How many events at its time stand before the first key frame of a segment. */
int recording_events_before(struct recording *recording, size_t segment,
			    uint32_t *out, struct failure *why);

/* How many of the events that a position counts happen to one stream. */
int recording_own_events(struct recording *recording,
			 const struct segment_position *place, uint32_t stream,
			 uint32_t *out, struct failure *why);

#endif
