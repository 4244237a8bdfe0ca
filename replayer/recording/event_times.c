/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_times.c - see event_times.h */
#include "replayer/recording/event_times.h"

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/packets.h"
#include "replayer/recording/position.h"
#include "replayer/recording/recording_data.h"

/* ------- from the packets ------- */

struct count {
	struct event_choice choice;
	uint32_t seen, counted;
};

static int count_event(void *context, const struct packet_place *place,
		       const struct packet *packet)
{
	struct count *count = context;
	const struct event_choice *choice = &count->choice;

	if (place->time > choice->time || count->seen == choice->most)
		return 1;
	if (place->time < choice->time || !position_counts(packet->kind))
		return 0;
	count->seen++;
	if (!choice->is_of_one || choice->stream == place->stream)
		count->counted++;
	return 0;
}

static int count_in_packets(struct recording *recording, size_t segment,
			    const struct event_choice *choice, uint32_t *out,
			    struct failure *why)
{
	struct count count = { .choice = *choice };
	int rc = recording_each_packet(recording, segment, count_event, &count,
				       why);

	*out = count.counted;
	return rc < 0 ? rc : 0;
}

/* ------- from what was read of them ------- */

static int keep_event(void *context, const struct packet_place *place,
		      const struct packet *packet)
{
	struct event_times *times = context;

	if (!position_counts(packet->kind))
		return 0;
	if (array_room(times->list, times->count, times->room))
		return ERR_NO_MEMORY;
	times->list[times->count++] = (struct event_time) {
		place->time, place->stream
	};
	return 0;
}

/* What cannot be read is for those who ask for it. */
static void read_times(struct recording *recording, struct event_times *times)
{
	times->count = 0;
	times->is_whole = !recording_each_packet(recording, times->segment,
						 keep_event, times, NULL);
	times->is_read = true;
}

/* The first event that is not before a time. */
static size_t find(const struct event_times *times, uint64_t t)
{
	size_t low = 0, high = times->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times->list[middle].time < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool knows(const struct event_times *times, uint64_t t)
{
	return times->is_whole ||
	       (times->count && t < times->list[times->count - 1].time);
}

static uint32_t count_in_list(const struct event_times *times,
			      const struct event_choice *choice)
{
	size_t first = find(times, choice->time);
	uint32_t counted = 0;

	for (size_t i = first; i < times->count; i++) {
		const struct event_time *event = &times->list[i];

		if (event->time > choice->time || i - first == choice->most)
			break;
		counted += !choice->is_of_one ||
			   choice->stream == event->stream;
	}
	return counted;
}

int event_times_count(struct recording *recording, size_t segment,
		      const struct event_choice *choice, uint32_t *out,
		      struct failure *why)
{
	struct event_times *times = &recording->event_times;

	if (!times->is_asked || times->segment != segment) {
		times->is_asked = true;
		times->is_read = false;
		times->segment = segment;
	} else if (!times->is_read) {
		read_times(recording, times);
	}
	if (!times->is_read || !knows(times, choice->time))
		return count_in_packets(recording, segment, choice, out, why);
	*out = count_in_list(times, choice);
	return 0;
}
