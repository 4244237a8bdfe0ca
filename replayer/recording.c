/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording.c - see recording.h */
#include "replayer/recording.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/packet.h"
#include "formats/registers.h"
#include "replayer/names.h"
#include "replayer/page_versions.h"
#include "replayer/stored_pages.h"

#define NO_CHUNK UINT32_MAX

/* The parts of one stream in one segment, linked by recording->next_part. */
struct parts {
	uint32_t first, last;
};

struct segment {
	uint64_t time;		/* of its key frame */
	uint32_t key_frame, index;	/* chunks */
	struct parts events, reads;
};

struct recording {
	struct trace_reader *reader;
	const struct reg_table *table;
	struct meta meta;
	bool has_summary;
	struct summary summary;
	uint64_t end;

	struct segment *segments;
	size_t segment_count, segment_capacity;
	uint32_t *next_part;	/* per chunk */

	struct stored_pages pages;
	struct page_versions versions;

	struct names names;
};

/* ------- opening ------- */

static int damaged(const struct recording *recording, uint32_t chunk, int code,
		   const char *field, struct failure *why)
{
	return trace_reader_damaged(recording->reader, chunk, code, field, why);
}

static int add_segment(struct recording *recording, uint32_t chunk,
		       const struct chunk_info *info, struct failure *why)
{
	size_t count = recording->segment_count;

	if (info->segment != count)
		return damaged(recording, chunk, ERR_CORRUPT, "segment", why);
	if (count && recording->segments[count - 1].time >= info->first)
		return damaged(recording, chunk, ERR_CORRUPT, "time", why);
	if (count == recording->segment_capacity) {
		size_t capacity = 2 * recording->segment_capacity + 64;
		struct segment *grown = realloc(recording->segments,
						capacity * sizeof(*grown));

		if (!grown)
			return failed(why, ERR_NO_MEMORY, "out of memory");
		recording->segments = grown;
		recording->segment_capacity = capacity;
	}
	recording->segments[recording->segment_count++] = (struct segment) {
		.time = info->first,
		.key_frame = chunk,
		.index = NO_CHUNK,
		.events = { NO_CHUNK, NO_CHUNK },
		.reads = { NO_CHUNK, NO_CHUNK },
	};
	return 0;
}

static void add_part(struct recording *recording, struct parts *parts,
		     uint32_t chunk)
{
	if (parts->first == NO_CHUNK)
		parts->first = chunk;
	else
		recording->next_part[parts->last] = chunk;
	parts->last = chunk;
}

/* A chunk that belongs to a segment, whose key frame must have come. */
static int add_to_segment(struct recording *recording, uint32_t chunk,
			  const struct chunk_info *info, struct failure *why)
{
	struct segment *segment;

	if (info->segment >= recording->segment_count)
		return damaged(recording, chunk, ERR_CORRUPT, "segment", why);
	segment = &recording->segments[info->segment];
	if (info->kind == CHUNK_EVENTS) {
		add_part(recording, &segment->events, chunk);
	} else if (info->kind == CHUNK_READS) {
		add_part(recording, &segment->reads, chunk);
	} else {
		if (segment->index != NO_CHUNK)
			return damaged(recording, chunk, ERR_CORRUPT,
				       "a second index", why);
		segment->index = chunk;
	}
	return 0;
}

static int read_meta(struct recording *recording, struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(recording->reader, 0);
	uint8_t *bytes;
	int rc;

	if (info->kind != CHUNK_META)
		return damaged(recording, 0, ERR_CORRUPT,
			       "not a description of the program", why);
	rc = trace_reader_chunk(recording->reader, 0, &bytes, why);
	if (rc)
		return rc;
	rc = meta_decode(&recording->meta, bytes, info->size);
	free(bytes);
	if (rc)
		return damaged(recording, 0, rc, "contents", why);
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
		return damaged(recording, chunk, ERR_CORRUPT,
			       "a second summary", why);
	rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);
	if (rc)
		return rc;
	rc = summary_decode(&recording->summary, bytes, info->size);
	free(bytes);
	if (rc)
		return damaged(recording, chunk, rc, "contents", why);
	recording->has_summary = true;
	recording->end = recording->summary.time;
	return 0;
}

static int add_chunk(struct recording *recording, uint32_t chunk,
		     struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);

	recording->next_part[chunk] = NO_CHUNK;
	switch (info->kind) {
	case CHUNK_KEY_FRAME:
		return add_segment(recording, chunk, info, why);
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
		return damaged(recording, chunk, ERR_CORRUPT,
			       "a second description of the program", why);
	case CHUNK_SYMBOLS:
	case CHUNK_FOOTER:
		break;
	}
	return 0;
}

static int order_chunks(struct recording *recording, struct failure *why)
{
	size_t count = trace_reader_count(recording->reader);
	int rc;

	if (count == 0)
		return failed(why, ERR_TRUNCATED,
			      "'%s' ends before its first chunk",
			      trace_reader_path(recording->reader));
	if (count >= NO_CHUNK)
		return failed(why, ERR_CORRUPT, "'%s' has too many chunks",
			      trace_reader_path(recording->reader));
	rc = read_meta(recording, why);
	if (rc)
		return rc;
	recording->next_part = calloc(count, sizeof(*recording->next_part));
	if (!recording->next_part)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_chunk(recording, (uint32_t)i, why);
	return rc;
}

/* ------- the end of a recording that was cut short ------- */

/* Steps up to the last event of a stream that is followable. */
static uint64_t steps_of_events(const struct recording *recording,
				const struct key_frame *frame,
				const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct packet_state state = { .doubt = frame->doubt };
	struct packet packet;
	uint64_t steps = 0;

	while (input_left(&in) && !packet_decode(&in, &state, &packet)) {
		if (packet.kind == PACKET_TOUCH &&
		    packet.source == TOUCH_STORED &&
		    packet.page_id > recording->pages.last)
			break;
		if (!packet_is_event(packet.kind))
			continue;
		if (packet.steps > UINT64_MAX - frame->time - steps)
			break;
		steps += packet.steps;
	}
	return steps;
}

/*
 * Steps of a segment whose next key frame is missing: all of it if its index
 * is there, which is written when it is over.
 */
static uint64_t steps_of_segment(struct recording *recording, size_t number,
				 const struct key_frame *frame,
				 const uint8_t *bytes, size_t size)
{
	uint64_t steps = steps_of_events(recording, frame, bytes, size);
	struct segment_index index;

	if (recording_index(recording, number, &index, NULL))
		return steps;
	if (index.steps > steps && index.steps <= UINT64_MAX - frame->time)
		steps = index.steps;
	segment_index_release(&index);
	return steps;
}

/* The first part that cannot be unpacked, or NO_CHUNK. */
static uint32_t first_bad_part(const struct recording *recording,
			       const struct parts *parts)
{
	uint32_t i;

	for (i = parts->first; i != NO_CHUNK; i = recording->next_part[i]) {
		uint8_t *bytes;

		if (trace_reader_chunk(recording->reader, i, &bytes, NULL))
			break;
		free(bytes);
	}
	return i;
}

/* Forgets the parts from chunk `limit` on. */
static void cut_parts(struct recording *recording, struct parts *parts,
		      uint32_t limit)
{
	uint32_t last = NO_CHUNK;

	for (uint32_t i = parts->first; i != NO_CHUNK && i < limit;
	     i = recording->next_part[i])
		last = i;
	if (last == NO_CHUNK)
		parts->first = NO_CHUNK;
	else
		recording->next_part[last] = NO_CHUNK;
	parts->last = last;
}

/*
 * The recorder writes what events need before the events.  So whatever stands
 * in the file before the first damage can be replayed, and nothing behind it.
 */
static int end_of_segment(struct recording *recording, size_t number,
			  struct failure *why)
{
	struct segment *segment = &recording->segments[number];
	uint32_t bad_events = first_bad_part(recording, &segment->events);
	uint32_t bad_reads = first_bad_part(recording, &segment->reads);
	uint32_t limit = bad_events < bad_reads ? bad_events : bad_reads;
	struct key_frame frame = { 0 };
	uint8_t *bytes = NULL;
	size_t size;
	int rc;

	cut_parts(recording, &segment->events, limit);
	cut_parts(recording, &segment->reads, limit);
	if (limit != NO_CHUNK)
		segment->index = NO_CHUNK;
	rc = recording_key_frame(recording, number, &frame, why);
	if (rc)
		return rc;
	rc = recording_stream(recording, number, CHUNK_EVENTS, &bytes, &size,
			      why);
	if (!rc)
		recording->end = segment->time +
				 steps_of_segment(recording, number, &frame,
						  bytes, size);
	free(bytes);
	key_frame_release(&frame);
	return rc;
}

/* Without a summary: the end is that of the last segment that can be used. */
static int find_end(struct recording *recording, struct failure *why)
{
	while (recording->segment_count) {
		size_t last = recording->segment_count - 1;
		int rc = end_of_segment(recording, last, why);

		if (!rc || rc == ERR_NO_MEMORY || rc == ERR_SYSTEM)
			return rc;
		recording->segment_count = last;
	}
	return failed(why, ERR_TRUNCATED,
		      "'%s' ends before its first key frame",
		      trace_reader_path(recording->reader));
}

static int check_end(struct recording *recording, struct failure *why)
{
	const char *path = trace_reader_path(recording->reader);
	size_t count = recording->segment_count;

	if (!recording->has_summary)
		return find_end(recording, why);
	if (!count)
		return failed(why, ERR_CORRUPT, "'%s' has no key frame", path);
	if (recording->end < recording->segments[count - 1].time)
		return failed(why, ERR_CORRUPT,
			      "'%s' ends at t=%" PRIu64
			      ", before its last key frame",
			      path, recording->end);
	return 0;
}

int recording_open(struct recording **out, const char *path,
		   struct failure *why)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	uint32_t arch;
	int rc;

	if (!recording)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = trace_reader_open(&recording->reader, path, why);
	if (rc)
		goto undo;
	arch = trace_reader_header(recording->reader)->arch;
	recording->table = reg_table(arch);
	if (!recording->table) {
		rc = failed(why, ERR_VERSION,
			    "'%s' is of machine type %" PRIu32
			    ", which this build does not know", path, arch);
		goto undo;
	}
	rc = order_chunks(recording, why);
	if (rc)
		goto undo;
	rc = check_end(recording, why);
	if (rc)
		goto undo;
	*out = recording;
	return 0;

undo:
	recording_close(recording);
	return rc;
}

/* Also ends a recording that recording_open() left half made. */
void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	names_release(&recording->names);
	page_versions_release(&recording->versions);
	stored_pages_release(&recording->pages);
	free(recording->segments);
	free(recording->next_part);
	meta_release(&recording->meta);
	summary_release(&recording->summary);
	trace_reader_close(recording->reader);
	free(recording);
}

/* ------- what there is ------- */

const struct trace_reader *recording_reader(const struct recording *recording)
{
	return recording->reader;
}

const struct reg_table *recording_reg_table(const struct recording *recording)
{
	return recording->table;
}

const struct meta *recording_meta(const struct recording *recording)
{
	return &recording->meta;
}

const struct summary *recording_summary(const struct recording *recording)
{
	return recording->has_summary ? &recording->summary : NULL;
}

size_t recording_segments(const struct recording *recording)
{
	return recording->segment_count;
}

uint64_t recording_time(const struct recording *recording, size_t segment)
{
	assert(segment <= recording->segment_count);
	if (segment == recording->segment_count)
		return recording->end;
	return recording->segments[segment].time;
}

uint64_t recording_end(const struct recording *recording)
{
	return recording->end;
}

size_t recording_segment_at(const struct recording *recording, uint64_t t)
{
	size_t low = 0, high = recording->segment_count;

	assert(t <= recording->end);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (recording->segments[middle].time <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ------- the parts of a segment ------- */

int recording_key_frame(struct recording *recording, size_t segment,
			struct key_frame *out, struct failure *why)
{
	const struct chunk_info *info;
	uint32_t chunk;
	uint8_t *bytes;
	int rc;

	assert(segment < recording->segment_count);
	chunk = recording->segments[segment].key_frame;
	info = trace_reader_info(recording->reader, chunk);
	rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);
	if (rc)
		return rc;
	*out = (struct key_frame) { 0 };
	rc = key_frame_decode(out, recording->table, bytes, info->size);
	free(bytes);
	if (rc)
		return damaged(recording, chunk, rc, "contents", why);
	if (out->time != info->first) {
		key_frame_release(out);
		return damaged(recording, chunk, ERR_CORRUPT, "time", why);
	}
	return 0;
}

int recording_stream(struct recording *recording, size_t segment,
		     enum chunk_kind kind, uint8_t **bytes, size_t *size,
		     struct failure *why)
{
	uint8_t *joined = malloc(1);
	const struct segment *from;
	size_t length = 0;
	uint32_t i;
	int rc;

	assert(segment < recording->segment_count);
	assert(kind == CHUNK_EVENTS || kind == CHUNK_READS);
	from = &recording->segments[segment];
	if (!joined)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	i = kind == CHUNK_EVENTS ? from->events.first : from->reads.first;
	for (; i != NO_CHUNK; i = recording->next_part[i]) {
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

int recording_index(struct recording *recording, size_t segment,
		    struct segment_index *out, struct failure *why)
{
	uint32_t chunk;
	uint8_t *bytes;
	int rc;

	assert(segment < recording->segment_count);
	chunk = recording->segments[segment].index;
	*out = (struct segment_index) { 0 };
	if (chunk == NO_CHUNK)
		return 0;
	rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);
	if (rc)
		return rc;
	rc = segment_index_decode(
		out, bytes, trace_reader_info(recording->reader, chunk)->size);
	free(bytes);
	if (rc)
		return damaged(recording, chunk, rc, "contents", why);
	return 0;
}

/* ------- stored pages ------- */

int recording_snapshot(struct recording *recording, size_t segment,
		       uint64_t page, uint64_t *id, struct failure *why)
{
	struct page_versions *versions = &recording->versions;

	while (versions->segments <= segment) {
		struct key_frame frame;
		int rc = recording_key_frame(recording, versions->segments,
					     &frame, why);

		if (rc)
			return rc;
		rc = page_versions_add(versions, frame.pages, frame.page_count);
		key_frame_release(&frame);
		if (rc)
			return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	*id = page_versions_find(versions, (uint32_t)segment, page);
	return 0;
}

int recording_page(struct recording *recording, uint64_t id,
		   uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	return stored_pages_read(&recording->pages, recording->reader, id,
				 bytes, why);
}

/* ------- symbols ------- */

int recording_find_symbol(struct recording *recording, size_t segment,
			  const char *name, uint64_t *addr, uint64_t *size,
			  struct failure *why)
{
	return names_find(&recording->names, recording, segment, name, addr,
			  size, why);
}

bool recording_name(struct recording *recording, size_t segment,
		    uint64_t addr, char *text, size_t room)
{
	return names_of(&recording->names, recording, segment, addr, text,
			room);
}
