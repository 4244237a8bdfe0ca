/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_steps.c - see thread_steps.h */
#include "replayer/recording/thread_steps.h"

#include <assert.h>
#include <inttypes.h>

#include "formats/error.h"
#include "replayer/recording/execs_internal.h"
#include "replayer/recording/segments_internal.h"
#include "replayer/recording/stream_times_internal.h"
#include "replayer/recording/streams_internal.h"

/* The part of a thread's life that one stream has. */
struct stretch {
	uint32_t stream;
	uint64_t from, to; /* times */
	uint64_t skipped;  /* steps in the stream before `from` */
	uint64_t own;	   /* steps of the thread before `from` */
};

/* A result other than 0 ends the visits and is returned. */
typedef int stretch_visit(void *context, const struct stretch *part,
			      struct failure *why);

/* The streams of the thread up to `t`, one after the other. */
static int each_stretch(struct recording *recording, uint32_t thread,
			    uint64_t t, stretch_visit *visit, void *context,
			    struct failure *why)
{
	struct stretch part = { .stream = thread };
	size_t count;
	const struct exec *execs = recording_execs(recording, &count);
	uint64_t steps, ended;
	int rc = 0;

	if (recording_exec_ends(recording, thread, &ended) && ended < t)
		t = ended;
	for (size_t i = 0; i < count && !thread && execs[i].time <= t; i++) {
		if (execs[i].stream == part.stream)
			continue;
		part.to = execs[i].time;
		rc = visit(context, &part, why);
		if (!rc)
			rc = recording_stream_steps(recording, part.stream,
						    part.to, &steps, why);
		if (rc)
			return rc;
		part.own += steps - part.skipped;
		part.stream = execs[i].stream;
		part.from = part.to;
		rc = recording_stream_steps(recording, part.stream, part.from,
					    &part.skipped, why);
		if (rc)
			return rc;
	}
	part.to = t;
	return visit(context, &part, why);
}

struct count {
	struct recording *recording;
	uint64_t *steps;
};

static int count_steps(void *context, const struct stretch *part,
		       struct failure *why)
{
	struct count *count = context;
	int rc = recording_stream_steps(count->recording, part->stream,
					part->to, count->steps, why);

	*count->steps += part->own - part->skipped;
	return rc;
}

int recording_steps(struct recording *recording, uint32_t thread, uint64_t t,
		    uint64_t *steps, struct failure *why)
{
	struct count count = { recording, steps };

	assert(thread < recording->thread_count);
	*steps = 0;
	return each_stretch(recording, thread, t, count_steps, &count, why);
}

/* ------- a thread's own count ------- */

/* The stream's last place whose key frame stands before `steps` steps. */
static int place_before(struct recording *recording, uint32_t stream,
			uint64_t steps, const struct part_place **place,
			uint64_t *at, struct failure *why)
{
	const struct thread *thread = &recording->threads[stream];
	size_t low = 0, high = thread->place_count;

	*place = NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct part_place *here = &thread->places[middle];
		struct key_frame frame;
		int rc = recording_frame_in(
			recording, recording_part_at(recording, here)->newest,
			&frame, why);

		if (rc)
			return rc;
		if (frame.steps < steps) {
			*place = here;
			*at = frame.steps;
			low = middle + 1;
		} else {
			high = middle;
		}
		key_frame_release(&frame);
	}
	return 0;
}

static int time_in_stream(struct recording *recording, uint32_t stream,
			  uint64_t steps, uint64_t *t, struct failure *why)
{
	const struct part_place *place;
	const struct slices *slices;
	uint64_t at;
	int rc;

	*t = recording_first(recording, stream);
	rc = recording_stream_steps(recording, stream, *t, &at, why);
	if (rc || steps == at)
		return rc;
	rc = place_before(recording, stream, steps, &place, &at, why);
	if (rc)
		return rc;
	if (!place)
		return ERR_NOT_FOUND;
	rc = recording_slices(recording, place->segment, &slices, why);
	if (rc)
		return rc;
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];

		if (slice->stream != stream || slice->own >= steps - at ||
		    steps - at - slice->own > slice->end - slice->start)
			continue;
		*t = recording_time(recording, place->segment) + slice->start +
		     (steps - at - slice->own);
		return 0;
	}
	return ERR_NOT_FOUND;
}

struct search {
	struct recording *recording;
	uint64_t steps, *time;
};

/* 1 if it was found. */
static int search_part(void *context, const struct stretch *part,
		       struct failure *why)
{
	struct search *search = context;
	uint64_t steps = search->steps - part->own + part->skipped;
	int rc;

	if (search->steps < part->own ||
	    (search->steps == part->own && part->own))
		return 0; /* it was so before */
	rc = time_in_stream(search->recording, part->stream, steps,
			    search->time, why);
	if (rc == ERR_NOT_FOUND || (!rc && *search->time > part->to))
		return 0;
	return rc ? rc : 1;
}

int recording_time_of(struct recording *recording, uint32_t tid, uint64_t steps,
		      uint64_t *t, struct failure *why)
{
	struct search search = { recording, steps, t };
	int rc = recording_has_tid(recording, tid, why);

	if (rc)
		return rc;
	for (size_t i = 0; i < recording->thread_count; i++) {
		uint32_t found;

		rc = recording_tid(recording, (uint32_t)i, &found, why);
		if (!rc && found != tid)
			continue;
		if (!rc)
			rc = each_stretch(recording, (uint32_t)i,
					      recording->end, search_part,
					      &search, why);
		if (rc)
			return rc > 0 ? 0 : rc;
	}
	return failed(why, ERR_NOT_FOUND,
		      "'%s': thread %" PRIu32 " never had %" PRIu64
		      " instruction%s",
		      trace_reader_path(recording->reader), tid, steps,
		      steps == 1 ? "" : "s");
}
