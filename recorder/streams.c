/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.c - the threads of the guest, each with packets of its own
 *
 * A slice begins with a SLICE packet in the thread's stream.  There is none for
 * the slice that a segment begins with, and none if no other thread has run
 * since the thread's last slice.
 */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

static void free_stream(struct stream *stream)
{
	prediction_writer_release(&stream->reads);
	cache_release(&stream->cache);
	output_release(&stream->events);
	output_release(&stream->effects);
	free(stream);
}

struct stream *stream_add(struct recorder *rec, uint32_t tid,
			  struct vm_thread *vm_thread)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream ||
	    array_room(rec->threads.list, rec->threads.count,
		       rec->threads.room) ||
	    cache_init(&stream->cache, rec->options->cache_entries)) {
		free(stream);
		return NULL;
	}
	prediction_writer_init(&stream->reads, &stream->cache);
	stream->number = (uint32_t)rec->threads.count;
	stream->tid = tid;
	stream->vm_thread = vm_thread;
	stream->is_new = true;
	stream->state.doubt = memory_doubt(rec->memory);
	rec->threads.list[rec->threads.count++] = stream;
	return stream;
}

void streams_release(struct recorder *rec)
{
	for (size_t i = 0; i < rec->threads.count; i++)
		free_stream(rec->threads.list[i]);
	free(rec->threads.list);
	free(rec->threads.changes);
	rec->threads.list = NULL;
	rec->threads.count = rec->threads.room = 0;
}

void streams_begin_again(struct recorder *rec, uint32_t tid)
{
	struct stream *own = rec->stream;

	for (size_t i = 0; i < rec->threads.count; i++)
		if (rec->threads.list[i] != own)
			free_stream(rec->threads.list[i]);
	rec->threads.list[0] = own;
	rec->threads.count = 1;
	own->number = 0;
	own->tid = tid;
	own->is_new = true;
	own->steps = own->start = own->event_steps = own->skipped = 0;
	own->in_event = false;
	own->told = 0;
	rec->threads.change_count = 0;
	output_clear(&own->events);
	output_clear(&own->effects);
	prediction_finish(&own->reads);
	output_clear(&own->reads.stream);
	own->reads.total_hits = 0;
	own->reads.total_misses = 0;
	cache_flush(&own->cache);
	rec->threads.turn_start = 0;
}

/* A thread that has ended leaves what it counted. */
static void empty(struct stream *stream)
{
	cache_release(&stream->cache);
	output_release(&stream->events);
	output_release(&stream->effects);
	output_release(&stream->reads.stream);
	output_release(&stream->reads.missed);
}

uint64_t stream_steps(const struct recorder *rec)
{
	return rec->stream->steps +
	       (vm_steps(rec->vm) - rec->threads.turn_start);
}

void streams_start_segment(struct recorder *rec)
{
	uint64_t now = vm_steps(rec->vm);

	rec->stream->steps = stream_steps(rec);
	rec->threads.turn_start = now;
	rec->threads.slice = 0;
	rec->threads.change_count = 0;
	for (size_t i = 0; i < rec->threads.count; i++) {
		struct stream *stream = rec->threads.list[i];

		if (stream->has_ended)
			empty(stream);
		stream->start = stream->event_steps = stream->steps;
		stream->skipped = 0;
		stream->told = 0;
		stream->state = (struct packet_state){
			.doubt = memory_doubt(rec->memory),
		};
	}
}

size_t streams_waiting(const struct recorder *rec)
{
	size_t size = 0;

	for (size_t i = 0; i < rec->threads.count; i++)
		size += rec->threads.list[i]->events.size +
			prediction_waiting(&rec->threads.list[i]->reads);
	return size;
}

/* ------- what the process tells ------- */

void streams_thread_begins(void *context, unsigned thread, uint32_t tid,
			   struct vm_thread *vm_thread)
{
	struct recorder *rec = context;
	struct stream *stream;

	(void)thread;
	if (rec->trace.unrecorded)
		return;
	stream = stream_add(rec, tid, vm_thread);
	if (!stream)
		effects_out_of_memory(rec);
	else if (!rec->error)
		rec->error = segment_write_thread(rec, stream, &rec->why);
}

/*
 * The thread loses the processor during an event, mostly a system call.  What
 * the call has done until now, touches and doubts of memory that other
 * processes share, comes before the slice that follows.
 */
static void leave_event(struct recorder *rec, struct stream *stream)
{
	struct packet packet = {
		.kind = PACKET_GIVE_WAY,
		.steps = stream->steps - stream->event_steps,
	};

	stream->has_left = true;
	if (!stream->effects.size)
		return;
	stream->event_steps = stream->steps;
	packet_encode(&stream->events, &stream->state, &packet);
	output_bytes(&stream->events, stream->effects.bytes,
		     stream->effects.size);
	output_clear(&stream->effects);
	if (stream->events.error)
		effects_out_of_memory(rec);
}

void streams_changed_space(struct recorder *rec, const struct packet *packet)
{
	effect(rec, packet);
	if (!rec->started)
		return;
	if (array_room(rec->threads.changes, rec->threads.change_count,
		       rec->threads.change_room)) {
		effects_out_of_memory(rec);
		return;
	}
	rec->threads.changes[rec->threads.change_count++] =
		(struct space_change){ *packet, rec->stream->number };
}

/* Behind the packet of a slice: what the others did to the address space. */
static void tell_changes(struct recorder *rec, struct stream *stream)
{
	for (; stream->told < rec->threads.change_count; stream->told++) {
		const struct space_change *change =
			&rec->threads.changes[stream->told];

		if (change->stream != stream->number)
			packet_encode(&stream->events, &stream->state,
				      &change->packet);
	}
}

void streams_thread_runs(void *context, unsigned thread)
{
	struct recorder *rec = context;
	uint64_t now = vm_steps(rec->vm), doubt = memory_doubt(rec->memory);
	struct stream *before = rec->stream, *stream;
	struct packet packet = { .kind = PACKET_SLICE };

	if (rec->trace.unrecorded || thread >= rec->threads.count)
		return;
	stream = rec->threads.list[thread];
	before->steps = stream_steps(rec);
	if (before->in_event)
		leave_event(rec, before);
	if (before->has_ended) {
		prediction_finish(&before->reads);
		cache_release(&before->cache);
	}
	rec->stream = stream;
	rec->threads.turn_start = now;
	stream->has_run = true;
	packet.slices = ++rec->threads.slice - stream->state.slice;
	packet.steps = stream->steps - stream->event_steps;
	packet.skipped = (now - rec->segment.start) -
			 (stream->steps - stream->start) - stream->skipped;
	packet.doubts = doubt - stream->state.doubt;
	packet_encode(&stream->events, &stream->state, &packet);
	stream->skipped += packet.skipped;
	stream->event_steps = stream->steps;
	tell_changes(rec, stream);
	rec->flush.events++;
	if (stream->events.error)
		effects_out_of_memory(rec);
}

void streams_thread_ends(void *context, unsigned thread)
{
	struct recorder *rec = context;

	if (!rec->trace.unrecorded && thread < rec->threads.count)
		rec->threads.list[thread]->has_ended = true;
}
