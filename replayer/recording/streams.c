/* SPDX-License-Identifier: GPL-2.0-or-later */
/* streams.c - see streams.h */
#include "replayer/recording/streams_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/segments_internal.h"

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
const struct part_place *
recording_newest_place(const struct recording *recording, size_t segment,
		       uint32_t stream)
{
	size_t count = places_up_to(recording, segment, stream);

	return count ? &recording->threads[stream].places[count - 1] : NULL;
}

const struct stream_part *recording_part(const struct recording *recording,
					 size_t segment, uint32_t stream)
{
	const struct part_place *place =
		recording_newest_place(recording, segment, stream);

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
	place = recording_newest_place(recording, segment, stream);
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

int recording_has_tid(struct recording *recording, uint32_t tid,
		      struct failure *why)
{
	for (size_t i = 0; i < recording->thread_count; i++) {
		uint32_t found;
		int rc = recording_tid(recording, (uint32_t)i, &found, why);

		if (rc || found == tid)
			return rc;
	}
	return failed(why, ERR_NOT_FOUND, "'%s' has no thread %" PRIu32,
		      trace_reader_path(recording->reader), tid);
}

/* ------- bytes ------- */

/* Joins the contents of some chunks. */
static int join(struct recording *recording, const struct parts *parts,
		uint8_t **bytes, size_t *size, struct failure *why)
{
	uint8_t *joined = malloc(1);
	size_t length = 0;
	int rc;

	if (!joined)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (uint32_t i = parts->first; i != NO_CHUNK;
	     i = recording->next_part[i]) {
		uint32_t more = trace_reader_info(recording->reader, i)->size;
		uint8_t *part, *grown;

		rc = trace_reader_chunk(recording->reader, i, &part, why);
		if (rc)
			goto undo;
		grown = realloc(joined, length + more + 1);
		if (!grown) {
			free(part);
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
			goto undo;
		}
		joined = grown;
		memcpy(joined + length, part, more);
		free(part);
		length += more;
	}
	*bytes = joined;
	*size = length;
	return 0;

undo:
	free(joined);
	return rc;
}

int recording_stream(struct recording *recording, size_t segment,
		     uint32_t stream, enum chunk_kind kind, uint8_t **bytes,
		     size_t *size, struct failure *why)
{
	static const struct parts none = { NO_CHUNK, NO_CHUNK };
	const struct stream_part *part =
		recording_part(recording, segment, stream);
	const struct parts *parts = &none;

	assert(kind == CHUNK_EVENTS || kind == CHUNK_READS);
	if (part)
		parts = kind == CHUNK_EVENTS ? &part->events : &part->reads;
	return join(recording, parts, bytes, size, why);
}
