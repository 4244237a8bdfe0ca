/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chunks.c - the chunks of a trace file, put in order */
#include "replayer/recording/chunks.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/recording_data.h"

int recording_damaged(const struct recording *recording, uint32_t chunk,
		      int code, const char *field, struct failure *why)
{
	return trace_reader_damaged(recording->reader, chunk, code, field, why);
}

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* ------- segments and streams ------- */

static int add_segment(struct recording *recording, uint32_t chunk,
		       const struct chunk_info *info, struct failure *why)
{
	size_t count = recording->segment_count;

	if (info->segment != count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "segment", why);
	if (count && recording->segments[count - 1].time >= info->first)
		return recording_damaged(recording, chunk, ERR_CORRUPT, "time",
					 why);
	if (array_room(recording->segments, count, recording->segment_room))
		return no_memory(why);
	recording->segments[recording->segment_count++] = (struct segment) {
		.time = info->first,
		.index = NO_CHUNK,
	};
	return 0;
}

static int add_thread(struct recording *recording, struct failure *why)
{
	if (array_room(recording->threads, recording->thread_count,
		       recording->thread_room))
		return no_memory(why);
	recording->threads[recording->thread_count++] = (struct thread) { 0 };
	return 0;
}

static const struct stream_part *newest_part(const struct recording *recording,
					     const struct thread *thread)
{
	const struct part_place *place;

	if (!thread->place_count)
		return NULL;
	place = &thread->places[thread->place_count - 1];
	return &recording->segments[place->segment].parts[place->part];
}

/* Gives a stream its place in the newest segment. */
static int add_part(struct recording *recording, uint32_t stream,
		    struct failure *why)
{
	uint32_t number = (uint32_t)recording->segment_count - 1;
	struct segment *segment = &recording->segments[number];
	struct thread *thread = &recording->threads[stream];
	const struct stream_part *before = newest_part(recording, thread);
	size_t room = segment->part_room;

	if (array_room(segment->streams, segment->part_count, room) ||
	    array_room(segment->parts, segment->part_count,
		       segment->part_room) ||
	    array_room(thread->places, thread->place_count, thread->place_room))
		return no_memory(why);
	/* `before` is of another segment: its array has not moved. */
	segment->parts[segment->part_count] = (struct stream_part) {
		.stream = stream,
		.key_frame = NO_CHUNK,
		.newest = before ? before->newest : NO_CHUNK,
		.events = { NO_CHUNK, NO_CHUNK },
		.reads = { NO_CHUNK, NO_CHUNK },
	};
	segment->streams[segment->part_count] = stream;
	thread->places[thread->place_count++] = (struct part_place) {
		number, (uint32_t)segment->part_count++,
	};
	return 0;
}

/* The stream in the newest segment; makes its place there. */
static int part_of(struct recording *recording, uint32_t stream,
		   struct stream_part **out, struct failure *why)
{
	uint32_t number = (uint32_t)recording->segment_count - 1;
	const struct thread *thread = &recording->threads[stream];
	const struct part_place *place;
	int rc = 0;

	if (!thread->place_count ||
	    thread->places[thread->place_count - 1].segment != number)
		rc = add_part(recording, stream, why);
	if (rc)
		return rc;
	place = &thread->places[thread->place_count - 1];
	*out = &recording->segments[number].parts[place->part];
	return 0;
}

/* ------- chunks ------- */

static int add_key_frame(struct recording *recording, uint32_t chunk,
			 const struct chunk_info *info, struct failure *why)
{
	const struct segment *segment;
	struct stream_part *part;
	int rc = 0;

	if (info->segment + UINT64_C(1) != recording->segment_count)
		rc = add_segment(recording, chunk, info, why);
	if (rc)
		return rc;
	segment = &recording->segments[info->segment];
	if (info->first < segment->time)
		return recording_damaged(recording, chunk, ERR_CORRUPT, "time",
					 why);
	if (info->stream > recording->thread_count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "stream", why);
	if (info->stream == recording->thread_count)
		rc = add_thread(recording, why);
	if (!rc)
		rc = part_of(recording, info->stream, &part, why);
	if (rc)
		return rc;
	/* One that comes behind the stream's packets is a second one, too. */
	if (part->key_frame != NO_CHUNK || part->events.first != NO_CHUNK ||
	    part->reads.first != NO_CHUNK)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "a second key frame", why);
	part->key_frame = chunk;
	part->newest = chunk;
	return 0;
}

static void link_part(struct recording *recording, struct parts *parts,
		      uint32_t chunk)
{
	if (parts->first == NO_CHUNK)
		parts->first = chunk;
	else
		recording->next_part[parts->last] = chunk;
	parts->last = chunk;
}

/* A chunk that belongs to the newest segment. */
static int add_to_segment(struct recording *recording, uint32_t chunk,
			  const struct chunk_info *info, struct failure *why)
{
	struct segment *segment;
	struct stream_part *part;
	int rc;

	if (info->segment + UINT64_C(1) != recording->segment_count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "segment", why);
	segment = &recording->segments[info->segment];
	if (info->kind == CHUNK_INDEX) {
		if (segment->index != NO_CHUNK)
			return recording_damaged(recording, chunk, ERR_CORRUPT,
						 "a second index", why);
		segment->index = chunk;
		return 0;
	}
	if (info->stream >= recording->thread_count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "stream", why);
	rc = part_of(recording, info->stream, &part, why);
	if (rc)
		return rc;
	link_part(recording, info->kind == CHUNK_EVENTS ? &part->events :
							   &part->reads,
		  chunk);
	return 0;
}

static int read_meta(struct recording *recording, struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(recording->reader, 0);
	uint8_t *bytes;
	int rc;

	if (info->kind != CHUNK_META)
		return recording_damaged(recording, 0, ERR_CORRUPT,
					 "not a description of the program",
					 why);
	rc = trace_reader_chunk(recording->reader, 0, &bytes, why);
	if (rc)
		return rc;
	meta_release(&recording->meta);
	rc = meta_decode(&recording->meta, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, 0, rc, "contents", why);
	return 0;
}

static int read_summary(struct recording *recording, uint32_t chunk,
			struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);
	uint8_t *bytes;
	int rc;

	if (recording->has_summary)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "a second summary", why);
	rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);
	if (rc)
		return rc;
	rc = summary_decode(&recording->summary, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, chunk, rc, "contents", why);
	recording->has_summary = true;
	recording->end = recording->summary.time;
	return 0;
}

/* ------- the process ------- */

/* The time of the newest program, or of the newest segment. */
static uint64_t newest_time(const struct recording *recording)
{
	uint64_t time = recording->segments[recording->segment_count - 1].time;
	size_t count = recording->program_chunk_count;
	uint64_t last;

	if (!count)
		return time;
	last = trace_reader_info(recording->reader,
				 recording->program_chunks[count - 1])->first;
	return last > time ? last : time;
}

static int add_program(struct recording *recording, uint32_t chunk,
		       const struct chunk_info *info, struct failure *why)
{
	if (info->segment + UINT64_C(1) != recording->segment_count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "segment", why);
	if (info->stream >= recording->thread_count)
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "stream", why);
	if (info->first < newest_time(recording))
		return recording_damaged(recording, chunk, ERR_CORRUPT, "time",
					 why);
	if (array_room(recording->program_chunks,
		       recording->program_chunk_count,
		       recording->program_chunk_room))
		return no_memory(why);
	recording->program_chunks[recording->program_chunk_count++] = chunk;
	return 0;
}

static int add_snapshot(struct recording *recording, uint32_t chunk,
			const struct chunk_info *info, struct failure *why)
{
	size_t count = recording->snapshot_count;

	if (info->segment + UINT64_C(1) != recording->segment_count ||
	    (count && recording->snapshots[count - 1].segment == info->segment))
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "segment", why);
	if (array_room(recording->snapshots, recording->snapshot_count,
		       recording->snapshot_room))
		return no_memory(why);
	recording->snapshots[recording->snapshot_count++] =
		(struct snapshot_place){ info->segment, chunk };
	return 0;
}

/* ------- all chunks ------- */

static int add_chunk(struct recording *recording, uint32_t chunk,
		     struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);

	recording->next_part[chunk] = NO_CHUNK;
	switch (info->kind) {
	case CHUNK_KEY_FRAME:
		return add_key_frame(recording, chunk, info, why);
	case CHUNK_EVENTS:
	case CHUNK_READS:
	case CHUNK_INDEX:
		return add_to_segment(recording, chunk, info, why);
	case CHUNK_PAGES:
		return stored_pages_add(&recording->pages, recording->reader,
					chunk, why);
	case CHUNK_SUMMARY:
		return read_summary(recording, chunk, why);
	case CHUNK_META:
		if (chunk == 0)
			return 0;
		return recording_damaged(recording, chunk, ERR_CORRUPT,
					 "a second description of the program",
					 why);
	case CHUNK_PROGRAM:
		return add_program(recording, chunk, info, why);
	case CHUNK_SNAPSHOT:
		return add_snapshot(recording, chunk, info, why);
	case CHUNK_MEMBER:
		return members_add(&recording->members, recording->reader,
				   chunk, why);
	case CHUNK_MOMENTS:
		recording->last_moments = chunk;
		break;
	case CHUNK_SYMBOLS:
	case CHUNK_SYMBOLS_AT:
	case CHUNK_MODULE_FILES:
	case CHUNK_MODULE_SUMS:
	case CHUNK_PIECE:
	case CHUNK_DEVICES:
	case CHUNK_DISK:
	case CHUNK_FOOTER:
		break;
	}
	return 0;
}

int recording_order(struct recording *recording, size_t limit,
		    struct failure *why)
{
	int rc;

	if (limit == 0)
		return failed(why, ERR_TRUNCATED,
			      "'%s' ends before its first chunk",
			      trace_reader_path(recording->reader));
	if (limit >= NO_CHUNK)
		return failed(why, ERR_CORRUPT, "'%s' has too many chunks",
			      trace_reader_path(recording->reader));
	rc = read_meta(recording, why);
	if (rc)
		return rc;
	recording->pages.elsewhere = (struct page_source){
		.context = &recording->members,
		.page = members_page,
		.pages = members_pages,
	};
	recording->next_part = calloc(limit, sizeof(*recording->next_part));
	if (!recording->next_part)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	recording->last_moments = NO_CHUNK;
	for (size_t i = 0; i < limit && !rc; i++)
		rc = add_chunk(recording, (uint32_t)i, why);
	return rc;
}

void recording_forget(struct recording *recording)
{
	for (size_t i = 0; i < recording->segment_count; i++) {
		free(recording->segments[i].parts);
		free(recording->segments[i].streams);
	}
	for (size_t i = 0; i < recording->thread_count; i++)
		free(recording->threads[i].places);
	free(recording->segments);
	free(recording->threads);
	free(recording->next_part);
	recording->segments = NULL;
	recording->segment_count = recording->segment_room = 0;
	recording->threads = NULL;
	recording->thread_count = recording->thread_room = 0;
	recording->next_part = NULL;
	free(recording->program_chunks);
	recording->program_chunks = NULL;
	recording->program_chunk_count = recording->program_chunk_room = 0;
	free(recording->snapshots);
	recording->snapshots = NULL;
	recording->snapshot_count = recording->snapshot_room = 0;
	stored_pages_release(&recording->pages);
	members_release(&recording->members);
}
