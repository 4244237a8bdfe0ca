/* SPDX-License-Identifier: GPL-2.0-or-later */
/* positions.c - see positions.h */
#include "replayer/recording/positions.h"

#include "replayer/recording/event_times.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/segments_internal.h"

int recording_events_before(struct recording *recording, size_t segment,
			    uint32_t *out, struct failure *why)
{
	struct segment *data = &recording->segments[segment];
	const struct event_choice choice = {
		.time = data->time, .most = EVENTS_ALL,
	};
	int rc;

	*out = 0;
	if (!segment)
		return 0;
	if (!data->knows_before) {
		rc = event_times_count(recording, segment - 1, &choice,
				       &data->before, why);
		if (rc)
			return rc;
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
	const struct event_choice choice = { .time = t, .most = EVENTS_ALL };
	uint32_t before = 0;
	int rc = event_times_count(recording, segment, &choice, out, why);

	if (!rc && t == recording_time(recording, segment))
		rc = recording_events_before(recording, segment, &before, why);
	*out += before;
	return rc;
}

int recording_own_events(struct recording *recording,
			 const struct segment_position *place, uint32_t stream,
			 uint32_t *out, struct failure *why)
{
	const struct event_choice choice = {
		.time = place->time, .most = place->events,
		.is_of_one = true, .stream = stream,
	};

	*out = 0;
	if (!place->events)
		return 0;
	return event_times_count(recording, place->segment, &choice, out, why);
}
