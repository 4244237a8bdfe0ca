/* SPDX-License-Identifier: GPL-2.0-or-later */
/* positions.c - see positions.h */
#include "replayer/recording/positions.h"

#include <stdbool.h>

#include "replayer/recording/packets.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/segments_internal.h"

struct count {
	uint64_t time;
	uint32_t most;		/* events that are looked at */
	uint32_t seen;
	bool is_of_one;		/* only those of `stream` are counted */
	uint32_t stream;
	uint32_t counted;
};

static int count_event(void *context, const struct packet_place *place,
		       const struct packet *packet)
{
	struct count *count = context;

	if (place->time > count->time || count->seen == count->most)
		return 1;
	if (place->time < count->time || !position_counts(packet->kind))
		return 0;
	count->seen++;
	if (!count->is_of_one || count->stream == place->stream)
		count->counted++;
	return 0;
}

static int count_in(struct recording *recording, size_t segment,
		    struct count *count, struct failure *why)
{
	int rc = recording_each_packet(recording, segment, count_event, count,
				       why);

	return rc < 0 ? rc : 0;
}

int recording_events_before(struct recording *recording, size_t segment,
			    uint32_t *out, struct failure *why)
{
	struct segment *data = &recording->segments[segment];
	struct count count = { .time = data->time, .most = EVENTS_ALL };
	int rc;

	*out = 0;
	if (!segment)
		return 0;
	if (!data->knows_before) {
		rc = count_in(recording, segment - 1, &count, why);
		if (rc)
			return rc;
		data->before = count.counted;
		data->knows_before = true;
	}
	*out = data->before;
	return 0;
}

int recording_place(struct recording *recording,
		    const struct position *position,
		    struct segment_position *out, struct failure *why)
{
	size_t segment = recording_segment_at(recording, position->time);
	uint32_t before = 0;
	int rc = 0;

	*out = (struct segment_position){ segment, position->time,
					  position->events };
	if (position->time == recording_time(recording, segment))
		rc = recording_events_before(recording, segment, &before, why);
	if (position->events < before)
		out->segment--;
	else if (position->events != EVENTS_ALL)
		out->events -= before;
	return rc;
}

int recording_events_at(struct recording *recording, uint64_t t,
			uint32_t *out, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	struct count count = { .time = t, .most = EVENTS_ALL };
	int rc = count_in(recording, segment, &count, why);

	*out = 0;
	if (!rc && t == recording_time(recording, segment))
		rc = recording_events_before(recording, segment, out, why);
	*out += count.counted;
	return rc;
}

int recording_own_events(struct recording *recording,
			 const struct segment_position *place, uint32_t stream,
			 uint32_t *out, struct failure *why)
{
	struct count count = {
		.time = place->time, .most = place->events,
		.is_of_one = true, .stream = stream,
	};
	int rc = 0;

	if (place->events)
		rc = count_in(recording, place->segment, &count, why);
	*out = count.counted;
	return rc;
}
