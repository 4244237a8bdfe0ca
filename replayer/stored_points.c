/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_points.c - checkpoints in a side file: key frames on demand
 *
 * formats/trace-format.md, section 17.
 */
#include "replayer/replayer_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/side_file.h"
#include "replayer/guests.h"

#define PENDING_SIZE_MOST 16	/* bytes of an instruction */

/* It has about this many bytes at most. */
#define POINT_MOST (64u << 20)

uint64_t stored_point_place(const struct replayer *rep,
			    const struct segment_position *at)
{
	uint64_t steps = at->time - recording_time(rep->recording, at->segment);
	uint64_t events = at->events;

	if (events >> STORED_EVENTS_BITS)
		events = (UINT64_C(1) << STORED_EVENTS_BITS) - 1;
	return steps << STORED_EVENTS_BITS | events;
}

/* ------- as bytes ------- */

static void put_turns(struct output *out, const struct replayer *rep,
		      const struct saved_turns *turns)
{
	output_varint(out, turns->stream);
	output_varint(out, turns->count);
	for (size_t i = 0; i < turns->count; i++) {
		const struct saved_thread *thread = &turns->list[i];

		output_varint(out, thread->stream);
		output_varint(out, thread->thread.pending);
		output_varint(out, thread->thread.pending_size);
		output_varint(out, thread->thread.has_ended);
		output_varint(out, thread->has_regs);
		if (thread->has_regs)
			output_bytes(out, thread->regs.bytes,
				     rep->regs->bytes);
	}
}

static void encode(struct output *out, const struct replayer *rep,
		   const struct checkpoint *point)
{
	uint64_t before = 0;

	output_varint(out, point->at.time);
	output_varint(out, point->at.events);
	output_varint(out, point->next);
	put_turns(out, rep, &point->turns);
	output_varint(out, point->page_count);
	for (size_t i = 0; i < point->page_count; i++) {
		output_varint(out, point->pages[i] - before);
		before = point->pages[i];
	}
	output_bytes(out, point->bytes, point->page_count << GUEST_PAGE_SHIFT);
}

static int take_thread(struct saved_thread *out, const struct replayer *rep,
		       struct input *in)
{
	const uint8_t *regs;

	out->stream = (uint32_t)input_count(
		in, recording_threads(rep->recording) - 1);
	out->thread.pending = (enum pending)input_count(in, PENDING_UNKNOWN);
	out->thread.pending_size =
		(unsigned)input_count(in, PENDING_SIZE_MOST);
	out->thread.has_ended = input_count(in, 1);
	out->has_regs = input_count(in, 1);
	if (!out->has_regs || in->error)
		return in->error;
	regs = input_bytes(in, rep->regs->bytes);
	if (regs)
		memcpy(out->regs.bytes, regs, rep->regs->bytes);
	return in->error;
}

static int take_turns(struct saved_turns *out, const struct replayer *rep,
		      struct input *in)
{
	size_t most = recording_threads(rep->recording);
	int rc;

	out->stream = (uint32_t)input_count(in, most - 1);
	out->count = input_count(in, most);
	out->list = calloc(out->count + 1, sizeof(*out->list));
	rc = out->list ? in->error : ERR_NO_MEMORY;
	for (size_t i = 0; i < out->count && !rc; i++)
		rc = take_thread(&out->list[i], rep, in);
	return rc;
}

static int take_pages(struct checkpoint *out, struct input *in)
{
	const uint8_t *bytes;
	uint64_t page = 0;

	out->page_count = input_count(in, POINT_MOST >> GUEST_PAGE_SHIFT);
	out->pages = calloc(out->page_count + 1, sizeof(*out->pages));
	if (!out->pages || checkpoint_make_room(out))
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < out->page_count && !in->error; i++) {
		uint64_t step = input_varint(in);

		if (i && !step)
			return ERR_CORRUPT;
		out->pages[i] = page += step;
	}
	bytes = input_bytes(in, out->page_count << GUEST_PAGE_SHIFT);
	if (bytes)
		memcpy(out->bytes, bytes, out->page_count << GUEST_PAGE_SHIFT);
	return in->error;
}

static int take(struct checkpoint *out, const struct replayer *rep,
		size_t segment, struct input *in)
{
	uint64_t start = recording_time(rep->recording, segment);
	uint64_t end = recording_time(rep->recording, segment + 1);
	int rc;

	out->at.segment = segment;
	out->at.time = input_count(in, end);
	out->at.events = (uint32_t)input_count(in, EVENTS_ALL);
	out->next = input_count(in, SIZE_MAX);
	if (in->error || out->at.time < start)
		return ERR_CORRUPT;
	rc = take_turns(&out->turns, rep, in);
	if (!rc)
		rc = take_pages(out, in);
	out->size = sizeof(*out) +
		    out->turns.count * sizeof(*out->turns.list) +
		    out->page_count * (GUEST_PAGE + sizeof(*out->pages));
	return rc;
}

int stored_point_decode(const struct replayer *rep, const uint8_t *bytes,
			size_t size, size_t segment, struct checkpoint **out,
			struct failure *why)
{
	struct input in = { bytes, bytes + size, 0 };
	struct checkpoint *point = calloc(1, sizeof(*point));
	int rc = point ? take(point, rep, segment, &in) : ERR_NO_MEMORY;

	*out = NULL;
	if (!rc && !input_left(&in)) {
		*out = point;
		return 0;
	}
	checkpoint_release(point);
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : 0;
}

/* ------- keeping ------- */

void replayer_use_side_file(struct replayer *rep, struct side_file *side)
{
	rep->points.side = side;
}

int stored_point_encode(struct replayer *rep, struct segment_position *at,
			struct output *out, struct failure *why)
{
	struct checkpoint *point;
	int rc = checkpoint_take(rep, POINT_MOST, &point, why);

	if (rc || !point)
		return rc;
	*at = point->at;
	encode(out, rep, point);
	checkpoint_release(point);
	return 0;
}

static int add(struct replayer *rep, struct output *bytes, bool *kept,
	       struct failure *why)
{
	struct side_file *side = rep->points.side;
	struct segment_position at;
	uint64_t place;
	int rc = rep->guest->encode_point(rep, &at, bytes, why);

	if (!rc && bytes->error)
		rc = failed(why, bytes->error, "out of memory");
	if (rc || !bytes->size)
		return rc;
	place = stored_point_place(rep, &at);
	*kept = side_file_find(side, SIDE_POINT, at.segment, place) ||
		side_file_add(side, SIDE_POINT, at.segment, place,
			      bytes->bytes, bytes->size);
	return 0;
}

int replayer_store_point(struct replayer *rep, bool *kept, struct failure *why)
{
	struct output bytes = { 0 };
	int rc;

	*kept = false;
	rc = add(rep, &bytes, kept, why);
	output_release(&bytes);
	return rc;
}
