/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_times.c - see stream_times.h */
#include "replayer/recording/stream_times_internal.h"

#include <assert.h>
#include <inttypes.h>

#include "formats/error.h"
#include "replayer/recording/packets.h"
#include "replayer/recording/segments_internal.h"
#include "replayer/recording/streams_internal.h"

int recording_slices(struct recording *recording, size_t segment,
		     const struct slices **out, struct failure *why)
{
	struct slices *slices = &recording->slices;
	struct slice *last;
	uint64_t length = recording_time(recording, segment + 1) -
			  recording_time(recording, segment);
	int rc;

	*out = slices;
	if (recording->has_slices && recording->slices_segment == segment)
		return 0;
	recording->has_slices = false;
	slices_release(slices);
	rc = recording_read_slices(recording, segment, slices, why);
	if (rc)
		return rc;
	last = &slices->list[slices->count - 1];
	if (!last->exits && last->end < length)
		last->end = length;
	recording->has_slices = true;
	recording->slices_segment = segment;
	return 0;
}

/* The stream's last slice that has begun at `time`, or NULL. */
static const struct slice *slice_before(const struct slices *slices,
					uint32_t stream, uint64_t time)
{
	for (size_t i = slices_at(slices, time) + 1; i-- > 0;)
		if (slices->list[i].stream == stream)
			return &slices->list[i];
	return NULL;
}

int recording_running(struct recording *recording, uint64_t t,
		      uint32_t *stream, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	uint64_t time = t - recording_time(recording, segment);
	const struct slices *slices;
	int rc;

	*stream = recording->segments[segment].streams[0];
	if (!time || recording->segments[segment].part_count == 1)
		return 0;
	rc = recording_slices(recording, segment, &slices, why);
	if (!rc)
		*stream = slices->list[slices_at(slices, time)].stream;
	return rc;
}

/* ------- who runs in a time ------- */

#define NO_STREAM UINT32_MAX

/* A time, and the stream that runs in it. */
struct span {
	uint64_t first, last;
	uint32_t stream;	/* NO_STREAM: none was seen yet */
	bool alone;		/* no other one was seen */
};

static void note_stream(struct span *span, uint32_t stream)
{
	if (span->stream == NO_STREAM)
		span->stream = stream;
	else if (span->stream != stream)
		span->alone = false;
}

/* A slice without steps can have events. */
static int note_slices(struct span *span, struct recording *recording,
		       size_t segment, struct failure *why)
{
	uint64_t start = recording_time(recording, segment);
	uint64_t first = span->first > start ? span->first - start : 0;
	const struct slices *slices;
	int rc = recording_slices(recording, segment, &slices, why);

	if (rc)
		return rc;
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];

		if (slice->start <= span->last - start && first <= slice->end)
			note_stream(span, slice->stream);
	}
	return 0;
}

int recording_runs_alone(struct recording *recording, uint64_t first,
			 uint64_t last, bool *alone, struct failure *why)
{
	struct span span = { first, last, NO_STREAM, true };
	size_t end = recording_segment_at(recording, last);
	int rc = 0;

	for (size_t i = recording_segment_at(recording, first);
	     i <= end && span.alone && !rc; i++) {
		if (recording_is_cut(recording, i))
			span.alone = false;
		else if (recording->segments[i].part_count == 1)
			note_stream(&span, recording->segments[i].streams[0]);
		else
			rc = note_slices(&span, recording, i, why);
	}
	*alone = span.alone;
	return rc;
}

/* ------- steps of a stream ------- */

/* Steps of a thread in a segment before `time`, which counts in it. */
static int steps_in_segment(struct recording *recording, size_t segment,
			    uint32_t stream, uint64_t time, uint64_t *steps,
			    struct failure *why)
{
	const struct slices *slices;
	const struct slice *slice;
	int rc = recording_slices(recording, segment, &slices, why);

	if (rc)
		return rc;
	slice = slice_before(slices, stream, time);
	*steps = 0;
	if (slice)
		*steps = slice->own + (time < slice->end ? time : slice->end) -
			 slice->start;
	return 0;
}

static int not_begun(const struct recording *recording, uint32_t stream,
		     uint64_t t, struct failure *why)
{
	return failed(why, ERR_NOT_FOUND,
		      "'%s': stream %" PRIu32 " has not begun at t=%" PRIu64,
		      trace_reader_path(recording->reader), stream, t);
}

int recording_stream_steps(struct recording *recording, uint32_t stream,
			   uint64_t t, uint64_t *steps, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	const struct part_place *place;
	struct key_frame frame;
	uint64_t own;
	int rc;

	assert(stream < recording->thread_count);
	place = recording_newest_place(recording, segment, stream);
	if (!place || recording_first(recording, stream) > t)
		return not_begun(recording, stream, t, why);
	/* A segment behind its last packets adds nothing. */
	if (place->segment < segment)
		t = recording_time(recording, place->segment + 1);
	rc = steps_in_segment(recording, place->segment, stream,
			      t - recording_time(recording, place->segment),
			      &own, why);
	if (!rc)
		rc = recording_frame_in(
			recording, recording_part_at(recording, place)->newest,
			&frame, why);
	if (rc)
		return rc;
	*steps = frame.steps + own;
	key_frame_release(&frame);
	return 0;
}

int recording_exit(struct recording *recording, uint32_t stream, bool *exits,
		   uint64_t *time, struct failure *why)
{
	const struct thread *thread = &recording->threads[stream];
	const struct part_place *last =
		&thread->places[thread->place_count - 1];
	const struct slices *slices;
	const struct slice *slice;
	int rc;

	*exits = false;
	if (recording_first(recording, stream) > recording->end)
		return 0;
	rc = recording_slices(recording, last->segment, &slices, why);
	if (rc)
		return rc;
	slice = slice_before(slices, stream, SLICE_NO_END);
	if (slice && slice->exits) {
		*exits = true;
		*time = recording_time(recording, last->segment) + slice->last;
	}
	return 0;
}

int recording_has_ended(struct recording *recording, uint32_t stream,
			size_t segment, bool *has_ended, struct failure *why)
{
	const struct thread *thread = &recording->threads[stream];
	uint64_t time;

	*has_ended = false;
	if (thread->places[thread->place_count - 1].segment >= segment)
		return 0;
	return recording_exit(recording, stream, has_ended, &time, why);
}
