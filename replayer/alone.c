/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alone.c - one thread's execution, computed without the others
 *
 * The thread's stream says at the start of each of its turns what the others
 * have done to the memory that it touches in that turn.  So no other stream
 * is read: segment by segment, the thread starts at its key frame, on memory
 * as of the segment's start, and is executed up to where it next gives up its
 * last turn in the segment.  Time is its own count.
 *
 * Source: US 7,620,938 B2: streams of several processors replay on their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/replayer_internal.h"

struct alone {
	struct replayer *rep;
	struct recording *recording;
	uint32_t stream;
	struct segment_position to;	/* the run ends there */
	uint32_t own;		/* of its events, those of the thread */
	uint64_t end;		/* own steps at the end of the segment */
	bool has_next;		/* `next` says how the segment ends */
	struct key_frame next;
};

/* A thread that has run has a key frame in the next segment. */
static int find_next(struct alone *alone, size_t segment, struct failure *why)
{
	alone->has_next = segment + 1 < recording_segments(alone->recording) &&
			  recording_has_frame(alone->recording, segment + 1,
					      alone->stream);
	if (!alone->has_next)
		return 0;
	return recording_thread_frame(alone->recording, segment + 1,
				      alone->stream, &alone->next, why);
}

/* Where the thread's last event is; with no next key frame, its end. */
static uint64_t last_event(const struct replayer *rep)
{
	const struct script *script = &rep->script;

	if (!script->event_count)
		return rep->start;
	return rep->start + script->events[script->event_count - 1].time;
}

/* Whether the run ends within the segment, not with it. */
static bool ends_inside(const struct alone *alone, size_t segment)
{
	return segment == alone->to.segment &&
	       (alone->to.time <
			recording_time(alone->recording, segment + 1) ||
		alone->to.events != EVENTS_ALL ||
		recording_is_cut(alone->recording, segment));
}

/* Where the thread stands when the segment ends. */
static int find_segment_end(struct alone *alone, size_t segment,
			    struct failure *why)
{
	const struct summary *summary = recording_summary(alone->recording);
	bool is_last = segment + 1 == recording_segments(alone->recording);
	int rc = find_next(alone, segment, why);

	if (alone->has_next)
		alone->end = alone->next.steps;
	else if (is_last && summary && alone->stream < summary->thread_count)
		alone->end = summary->threads[alone->stream].steps;
	else
		alone->end = last_event(alone->rep);
	return rc;
}

/* Own steps in the segment before `time`, of all threads, in it. */
static uint64_t steps_before(const struct slices *slices, uint64_t time)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];
		uint64_t end = time < slice->end ? time : slice->end;

		if (slice->start <= time)
			steps = slice->own + end - slice->start;
	}
	return steps;
}

/* What happens to the thread behind the end of the run is left out. */
static void cut_short(struct alone *alone, size_t segment)
{
	struct script *script = &alone->rep->script;
	uint64_t most = alone->to.time -
			recording_time(alone->recording, segment);
	uint64_t end = alone->rep->start + steps_before(&script->slices, most);
	uint32_t own = 0;
	size_t count = 0;

	for (; count < script->event_count; count++) {
		const struct script_event *event = &script->events[count];

		if (event->joint > most)
			break;
		if (event->joint < most ||
		    !position_counts(event->packet.kind))
			continue;
		if (own == alone->own)
			break;
		own++;
	}
	script->event_count = count;
	if (end < alone->end)
		alone->end = end;
	if (alone->has_next)
		key_frame_release(&alone->next);
	alone->has_next = false;
}

/* Its key frame must be where it was brought. */
static int check_end(struct alone *alone, struct failure *why)
{
	const struct reg_table *table = alone->rep->regs;
	struct reg_file now;

	if (!alone->has_next)
		return 0;
	vm_registers(alone->rep->vm, &now);
	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];

		if (memcmp(now.bytes + info->offset,
			   alone->next.regs.bytes + info->offset, info->size))
			return failed(why, ERR_DIVERGED,
				      "thread %" PRIu32 ", replayed alone, "
				      "diverged before its instruction %" PRIu64
				      ": %s differs from its key frame",
				      alone->next.tid, alone->end, info->name);
	}
	return 0;
}

static int load(struct alone *alone, size_t segment,
		const struct key_frame *first, const struct key_frame *own,
		struct failure *why)
{
	struct replayer *rep = alone->rep;
	int rc;

	script_release(&rep->script);
	rep->has_script = false;
	rc = script_load_alone(&rep->script, alone->recording, segment,
			       alone->stream, first, own, &rep->cache, why);
	if (rc)
		return rc;
	rep->segment = segment;
	rep->start = own->steps;
	rep->next = rep->next_seen = 0;
	return 0;
}

/* Puts the guest where the thread stands when the segment starts. */
static int start(struct alone *alone, size_t segment, struct failure *why)
{
	struct replayer *rep = alone->rep;
	struct key_frame first = { 0 }, own = { 0 };
	int rc = recording_key_frame(alone->recording, segment, &first, why);

	if (!rc)
		rc = recording_thread_frame(alone->recording, segment,
					    alone->stream, &own, why);
	if (!rc)
		rc = load(alone, segment, &first, &own, why);
	if (!rc)
		rc = start_guest(rep, segment, &first, why);
	if (!rc) {
		turns_start(rep, alone->stream);
		vm_set_registers(rep->vm, &own.regs);
		vm_set_steps(rep->vm, own.steps);
	}
	key_frame_release(&first);
	key_frame_release(&own);
	return rc;
}

/* Whether the thread had a turn in the segment that is loaded. */
static bool has_run(const struct alone *alone, size_t segment)
{
	size_t count;
	const uint32_t *streams =
		recording_streams(alone->recording, segment, &count);

	return alone->rep->script.event_count || streams[0] == alone->stream;
}

static bool is_in(const struct alone *alone, size_t segment)
{
	size_t count;
	const uint32_t *streams =
		recording_streams(alone->recording, segment, &count);

	for (size_t i = 0; i < count; i++)
		if (streams[i] == alone->stream)
			return true;
	return false;
}

static int run_segment(struct alone *alone, size_t segment,
		       struct failure *why)
{
	struct replayer *rep = alone->rep;
	int rc = start(alone, segment, why);

	if (rc || !has_run(alone, segment))
		return rc;
	rc = find_segment_end(alone, segment, why);
	if (!rc && ends_inside(alone, segment))
		cut_short(alone, segment);
	if (!rc)
		rc = events_run(rep, alone->end, EVENTS_ALL, why);
	if (!rc)
		rc = check_end(alone, why);
	if (alone->has_next)
		key_frame_release(&alone->next);
	return rc;
}

static int run_segments(struct alone *alone, const struct alone_run *run,
			uint64_t *steps, struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i <= alone->to.segment && !rc; i++) {
		if (is_in(alone, i))
			rc = run_segment(alone, i, why);
		if (rc)
			break;
		*steps = alone->end;
		if (run->progress)
			run->progress(run->context,
				      i < alone->to.segment ?
					      recording_time(alone->recording,
							     i + 1) :
					      run->to.time);
	}
	return rc;
}

/* Where the run ends, and how many events at that time are the thread's. */
static int find_end(struct alone *alone, const struct position *to,
		    struct failure *why)
{
	struct segment_position *place = &alone->to;
	int rc = recording_place(alone->recording, to, place, why);

	if (rc)
		return rc;
	/* A key frame is the end of the segment before. */
	if (place->segment && !place->events &&
	    place->time == recording_time(alone->recording, place->segment)) {
		place->segment--;
		place->events = EVENTS_ALL;
	}
	if (place->events == EVENTS_ALL) {
		alone->own = EVENTS_ALL;
		return 0;
	}
	return recording_own_events(alone->recording, place, alone->stream,
				    &alone->own, why);
}

static int begins_later(struct recording *recording,
			const struct alone_run *run, uint64_t first,
			struct failure *why)
{
	uint32_t tid;
	int rc = recording_tid(recording, run->stream, &tid, why);

	return rc ? rc : failed(why, ERR_NOT_FOUND,
				"thread %" PRIu32 " begins at t=%" PRIu64
				", after t=%" PRIu64, tid, first, run->to.time);
}

int replayer_run_alone(struct replayer *rep, const struct alone_run *run,
		       uint64_t *steps, struct failure *why)
{
	struct alone alone = {
		.rep = rep, .recording = rep->recording, .stream = run->stream,
	};
	uint64_t first = recording_first(rep->recording, run->stream);
	int rc;

	*steps = 0;
	if (first > run->to.time)
		return begins_later(rep->recording, run, first, why);
	rc = find_end(&alone, &run->to, why);
	if (rc)
		return rc;
	rep->alone = true;
	rc = run_segments(&alone, run, steps, why);
	rep->alone = false;
	rep->loaded = false;
	return rc;
}
