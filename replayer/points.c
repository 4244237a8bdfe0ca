/* SPDX-License-Identifier: GPL-2.0-or-later */
/* points.c - where a replay can start */
#include "replayer/replayer_internal.h"

#include "formats/error.h"

int points_before(struct replayer *rep, const struct position *position,
		  struct position *out, struct failure *why)
{
	struct segment_position place;
	int rc = recording_place(rep->recording, position, &place, why);

	if (rc)
		return rc;
	out->time = recording_time(rep->recording, place.segment);
	if (place.segment && place.time == out->time && !place.events)
		out->time = recording_time(rep->recording, --place.segment);
	return recording_events_before(rep->recording, place.segment,
				       &out->events, why);
}
