/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slices.c - see slices.h */
#include "replayer/recording/slices.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

/* ------- following one stream ------- */

static int add_slice(struct slices *slices, struct stream_clock *clock,
		     uint64_t number)
{
	if (array_room(slices->list, slices->count, slices->room))
		return ERR_NO_MEMORY;
	clock->slice = slices->count++;
	clock->begun = true;
	slices->list[clock->slice] = (struct slice) {
		.number = number,
		.start = clock->time,
		.end = SLICE_NO_END,
		.last = clock->time,
		.own = clock->own,
		.stream = clock->stream,
		.first = slices->events,
	};
	return 0;
}

int slices_begin(struct slices *slices, struct stream_clock *clock,
		 uint32_t stream, bool is_first)
{
	*clock = (struct stream_clock) { .stream = stream };
	return is_first ? add_slice(slices, clock, 0) : 0;
}

static int advance(struct stream_clock *clock, uint64_t steps,
		   uint64_t skipped)
{
	/* SLICE_NO_END is no time. */
	uint64_t left = SLICE_NO_END - 1 - clock->time;

	if (steps > left || skipped > left - steps)
		return ERR_CORRUPT;
	clock->time += steps + skipped;
	clock->own += steps;
	return 0;
}

/* The thread's slice before ends where its own steps do. */
static int begin_slice(struct slices *slices, struct stream_clock *clock,
		       const struct packet *event)
{
	uint64_t before = 0;

	if (event->steps && !clock->begun)
		return ERR_CORRUPT;
	if (advance(clock, event->steps, event->skipped))
		return ERR_CORRUPT;
	if (clock->begun) {
		struct slice *slice = &slices->list[clock->slice];

		before = slice->number;
		slice->end = clock->time - event->skipped;
	}
	if (event->slices > UINT64_MAX - before)
		return ERR_CORRUPT;
	return add_slice(slices, clock, before + event->slices);
}

static int follow_event(struct slices *slices, struct stream_clock *clock,
			const struct packet *event)
{
	struct slice *slice;
	int rc;

	if (clock->begun && slices->list[clock->slice].exits)
		return ERR_CORRUPT;	/* it has ended */
	if (event->kind == PACKET_SLICE)
		rc = begin_slice(slices, clock, event);
	else
		rc = advance(clock, event->steps, 0);
	if (rc)
		return rc;
	slice = &slices->list[clock->slice];
	slice->last = clock->time;
	slice->exits = event->kind == PACKET_EXIT;
	slice->count++;
	slices->events++;
	return 0;
}

int slices_follow(struct slices *slices, struct stream_clock *clock,
		  const struct packet *packet)
{
	if (!clock->begun && packet->kind != PACKET_SLICE)
		return ERR_CORRUPT;	/* nobody let it run */
	if (!packet_is_event(packet->kind))
		return 0;
	return follow_event(slices, clock, packet);
}

/* ------- putting them in order ------- */

/*
 * Each number is given once.  In a recording that was cut short, those that
 * come after a gap are left out.
 */
static int sort(struct slices *slices, bool is_cut)
{
	struct slice *sorted = calloc(slices->count, sizeof(*sorted));
	size_t count = 0;
	int rc = 0;

	if (!sorted)
		return ERR_NO_MEMORY;
	/* A slice that is there has the number of no empty place. */
	for (size_t i = 0; i < slices->count; i++)
		sorted[i].number = UINT64_MAX;
	for (size_t i = 0; i < slices->count && !rc; i++) {
		const struct slice *slice = &slices->list[i];

		if (slice->number >= slices->count)
			rc = is_cut ? 0 : ERR_CORRUPT;
		else if (sorted[slice->number].number != UINT64_MAX)
			rc = ERR_CORRUPT;
		else
			sorted[slice->number] = *slice;
	}
	while (count < slices->count && sorted[count].number == count)
		count++;
	free(slices->list);
	slices->list = sorted;
	slices->room = slices->count;
	slices->count = count;
	return rc;
}

/* Each slice takes place between the one before and the one after. */
static int check_times(struct slices *slices)
{
	for (size_t i = 0; i < slices->count; i++) {
		struct slice *slice = &slices->list[i];
		uint64_t next;

		if (i + 1 == slices->count) {
			slice->end = slice->last;
			break;
		}
		next = slices->list[i + 1].start;
		if (slice->last > next)
			return ERR_CORRUPT;
		if (slice->end != SLICE_NO_END && slice->end != next)
			return ERR_CORRUPT;
		slice->end = next;
	}
	return 0;
}

int slices_order(struct slices *slices, bool is_cut)
{
	int rc = 0;

	/* One slice is in order: that of a program with one thread. */
	if (slices->count > 1 ||
	    (slices->count && slices->list[0].number))
		rc = sort(slices, is_cut);
	return rc ? rc : check_times(slices);
}

size_t slices_at(const struct slices *slices, uint64_t time)
{
	size_t low = 0, high = slices->count;

	assert(high);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (slices->list[middle].start <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void slices_release(struct slices *slices)
{
	free(slices->list);
	*slices = (struct slices) { 0 };
}
