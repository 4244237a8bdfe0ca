/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slices.h - the slices of one segment, in order
 *
 * Each stream is followed on its own, event by event; its SLICE packets say
 * where its slices belong among those of the others.  Then all slices are put
 * in order and checked: each number once, each slice from where the one
 * before it ends.
 *
 * Units:      times and steps are counted from the start of the segment.
 * Ownership:  slices_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RECORDING_SLICES_H
#define CPREC_REPLAYER_RECORDING_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"

#define SLICE_NO_END UINT64_MAX

struct slice {
	uint64_t number;
	uint64_t start, end;	/* of all threads; `end` may be SLICE_NO_END
				   until they are in order */
	uint64_t last;		/* time of its last event; its start if none */
	uint64_t own;		/* steps of its thread before it */
	uint32_t stream;
	bool exits;		/* its last event is the end of its thread */
	size_t first, count;	/* its events, in the order of following */
};

struct slices {
	struct slice *list;
	size_t count, room;
	size_t events;		/* followed so far, of all streams */
};

/* Where the following of one stream stands. */
struct stream_clock {
	uint32_t stream;
	uint64_t time;		/* of all threads: own steps and skipped ones */
	uint64_t own;		/* steps of its thread */
	size_t slice;		/* its newest one, if `begun` */
	bool begun;
};

/*
 * Starts on a stream.  The first stream of a segment has slice 0, without a
 * packet that says so.
 */
int slices_begin(struct slices *slices, struct stream_clock *clock,
		 uint32_t stream, bool is_first);

/* Follows one packet; clock->time and clock->own are then its time. */
int slices_follow(struct slices *slices, struct stream_clock *clock,
		  const struct packet *packet);

/*
 * Puts all of them in order, so that list[i].number is i, and checks them.
 * Of a recording that was cut short the slices count up to the first that is
 * missing, the others are dropped.  The last slice ends at its last event.
 */
int slices_order(struct slices *slices, bool is_cut);

/* The last slice that has begun at `time`; there must be one. */
size_t slices_at(const struct slices *slices, uint64_t time);

void slices_release(struct slices *slices);

#endif
