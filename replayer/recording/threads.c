/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - who ran when: see recording.h */
#include "replayer/recording/recording_internal.h"

#include <assert.h>
#include <inttypes.h>

#include "formats/error.h"
#include "replayer/recording/packets.h"

/* ------- finding the parts of a stream ------- */

const struct stream_part *recording_part_at(const struct recording *recording,
					    const struct part_place *place)
{
	return &recording->segments[place->segment].parts[place->part];
}

/* How many of a stream's places are in segments up to this one. */
static size_t places_up_to(const struct recording *recording, size_t segment,
			   uint32_t stream)
{
	const struct thread *thread = &recording->threads[stream];
	size_t low = 0, high = thread->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->places[middle].segment <= segment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where the stream last had something up to this segment, or NULL. */
static const struct part_place *newest_place(const struct recording *recording,
					     size_t segment, uint32_t stream)
{
	size_t count = places_up_to(recording, segment, stream);

	return count ? &recording->threads[stream].places[count - 1] : NULL;
}

const struct stream_part *recording_part(const struct recording *recording,
					 size_t segment, uint32_t stream)
{
	const struct part_place *place =
		newest_place(recording, segment, stream);

	return place && place->segment == segment
		       ? recording_part_at(recording, place)
		       : NULL;
}

size_t recording_threads(const struct recording *recording)
{
	return recording->thread_count;
}

const uint32_t *recording_streams(const struct recording *recording,
				  size_t segment, size_t *count)
{
	assert(segment < recording->segment_count);
	*count = recording->segments[segment].part_count;
	return recording->segments[segment].streams;
}

/* ------- key frames ------- */

bool recording_has_frame(const struct recording *recording, size_t segment,
			 uint32_t stream)
{
	const struct stream_part *part =
		recording_part(recording, segment, stream);

	return part && part->key_frame != NO_CHUNK;
}

int recording_thread_frame(struct recording *recording, size_t segment,
			   uint32_t stream, struct key_frame *out,
			   struct failure *why)
{
	const struct part_place *place;

	assert(stream < recording->thread_count);
	place = newest_place(recording, segment, stream);
	if (!place)
		return failed(why, ERR_NOT_FOUND,
			      "stream %" PRIu32 " begins after segment %zu",
			      stream, segment);
	return recording_frame_in(recording,
				  recording_part_at(recording, place)->newest,
				  out, why);
}

/* The time of its first key frame. */
uint64_t recording_first(const struct recording *recording, uint32_t stream)
{
	const struct thread *thread = &recording->threads[stream];
	uint32_t chunk = recording_part_at(recording, thread->places)->newest;

	return trace_reader_info(recording->reader, chunk)->first;
}

int recording_tid(struct recording *recording, uint32_t number, uint32_t *tid,
		  struct failure *why)
{
	struct thread *thread = &recording->threads[number];
	struct key_frame frame;
	int rc;

	assert(number < recording->thread_count);
	if (!thread->has_tid) {
		rc = recording_frame_in(
			recording,
			recording_part_at(recording, thread->places)->newest,
			&frame, why);
		if (rc)
			return rc;
		thread->tid = frame.tid;
		thread->has_tid = true;
		key_frame_release(&frame);
	}
	*tid = thread->tid;
	return 0;
}

int recording_find_thread(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *thread, struct failure *why)
{
	for (size_t i = recording->thread_count; i-- > 0;) {
		uint32_t found;
		int rc;

		if (recording_first(recording, (uint32_t)i) > t)
			continue;
		rc = recording_tid(recording, (uint32_t)i, &found, why);
		if (rc)
			return rc;
		*thread = (uint32_t)i;
		if (found == tid)
			return 0;
	}
	return failed(why, ERR_NOT_FOUND,
		      "'%s' has no thread %" PRIu32 " at t=%" PRIu64,
		      trace_reader_path(recording->reader), tid, t);
}

/* ------- slices ------- */

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
	place = newest_place(recording, segment, stream);
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

int recording_thread(struct recording *recording, uint32_t thread,
		     struct recording_thread *out, struct failure *why)
{
	uint64_t time;
	bool exits;
	int rc;

	assert(thread < recording->thread_count);
	*out = (struct recording_thread){
		.first = recording_first(recording, thread),
		.last = recording->end,
	};
	rc = recording_tid(recording, thread, &out->tid, why);
	if (out->first > recording->end) {
		out->last = out->first;
		return rc;
	}
	if (!rc)
		rc = recording_steps(recording, thread, out->first,
				     &out->steps_before, why);
	if (!rc)
		rc = recording_exit(recording,
				    recording_performer(recording, thread,
							recording->end),
				    &exits, &time, why);
	if (rc)
		return rc;
	out->has_ended = recording_exec_ends(recording, thread, &out->last);
	if (exits && time < out->last)
		out->last = time;
	out->has_ended |= exits;
	return recording_steps(recording, thread, recording->end, &out->steps,
			       why);
}
