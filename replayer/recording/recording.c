/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording.c - see recording.h */
#include "replayer/recording/recording_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/registers.h"
#include "replayer/recording/packets.h"

int recording_damaged(const struct recording *recording, uint32_t chunk,
		      int code, const char *field, struct failure *why)
{
	return trace_reader_damaged(recording->reader, chunk, code, field, why);
}

/* ------- the end of a recording that was cut short ------- */

static bool is_bad(const struct recording *recording, uint32_t chunk)
{
	uint8_t *bytes;

	if (trace_reader_chunk(recording->reader, chunk, &bytes, NULL))
		return true;
	free(bytes);
	return false;
}

static bool is_bad_frame(struct recording *recording, uint32_t chunk)
{
	struct key_frame frame;

	if (recording_frame_in(recording, chunk, &frame, NULL))
		return true;
	key_frame_release(&frame);
	return false;
}

/* The first of these parts that cannot be unpacked, or NO_CHUNK. */
static uint32_t first_bad_part(const struct recording *recording,
			       const struct parts *parts)
{
	uint32_t i = parts->first;

	while (i != NO_CHUNK && !is_bad(recording, i))
		i = recording->next_part[i];
	return i;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The first chunk of the last segment that cannot be used, or NO_CHUNK. */
static uint32_t first_bad_of_segment(struct recording *recording)
{
	const struct segment *segment =
		&recording->segments[recording->segment_count - 1];
	uint32_t bad = NO_CHUNK;

	for (size_t i = 0; i < segment->part_count; i++) {
		const struct stream_part *part = &segment->parts[i];

		if (part->key_frame != NO_CHUNK &&
		    is_bad_frame(recording, part->key_frame))
			bad = least(bad, part->key_frame);
		bad = least(bad, first_bad_part(recording, &part->events));
		bad = least(bad, first_bad_part(recording, &part->reads));
	}
	return bad;
}

/* Forgets all chunks from `limit` on. */
static int cut(struct recording *recording, uint32_t limit,
	       struct failure *why)
{
	recording_forget(recording);
	return recording_order(recording, limit, why);
}

/*
 * The recorder writes what events need before the events.  So whatever stands
 * in the file before the first damage can be replayed, and nothing behind it.
 */
static int cut_at_damage(struct recording *recording, struct failure *why)
{
	size_t count = recording->segment_count;
	uint32_t limit = NO_CHUNK;
	int rc = 0;

	for (; count; count--) {
		uint32_t chunk = recording->segments[count - 1].parts->key_frame;

		if (!is_bad_frame(recording, chunk))
			break;
		limit = chunk;
	}
	if (limit != NO_CHUNK)
		rc = cut(recording, limit, why);
	if (rc || !recording->segment_count)
		return rc;
	limit = first_bad_of_segment(recording);
	return limit == NO_CHUNK ? 0 : cut(recording, limit, why);
}

/*
 * Of several threads, some key frames of the last segment may be missing:
 * without packets, it is nothing but the end of the segment before.
 */
static int cut_empty_segment(struct recording *recording, uint64_t *end,
			     struct failure *why)
{
	const struct segment *segment =
		&recording->segments[recording->segment_count - 1];

	if (recording->segment_count == 1 || recording->thread_count == 1 ||
	    segment->index != NO_CHUNK)
		return 0;
	for (size_t i = 0; i < segment->part_count; i++)
		if (segment->parts[i].events.first != NO_CHUNK)
			return 0;
	*end = segment->time;
	return cut(recording, segment->parts->key_frame, why);
}

/*
 * The end of the last segment: that of its last slice that can be used, or
 * all of it if its index is there, which is written when it is over.
 */
static int end_of_segment(struct recording *recording, struct failure *why)
{
	size_t last = recording->segment_count - 1;
	uint64_t time = recording->segments[last].time;
	struct segment_index index;
	struct slices slices;
	uint64_t steps = 0;
	int rc = recording_read_slices(recording, last, &slices, why);

	if (rc)
		return rc;
	if (slices.count)
		steps = slices.list[slices.count - 1].end;
	slices_release(&slices);
	if (!recording_index(recording, last, &index, NULL)) {
		if (index.steps > steps)
			steps = index.steps;
		segment_index_release(&index);
	}
	if (steps > UINT64_MAX - time)
		return failed(why, ERR_CORRUPT, "'%s': segment %zu is too long",
			      trace_reader_path(recording->reader), last);
	recording->end = time + steps;
	return 0;
}

/* Without a summary: the end is that of the last segment that can be used. */
static int find_end(struct recording *recording, struct failure *why)
{
	uint64_t end = 0;
	int rc = cut_at_damage(recording, why);

	if (!rc && recording->segment_count)
		rc = cut_empty_segment(recording, &end, why);
	if (rc)
		return rc;
	if (!recording->segment_count)
		return failed(why, ERR_TRUNCATED,
			      "'%s' ends before its first key frame",
			      trace_reader_path(recording->reader));
	rc = end_of_segment(recording, why);
	if (!rc && end)
		recording->end = end;
	return rc;
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
	rc = recording_order(recording,
			     trace_reader_count(recording->reader), why);
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
	recording_forget_programs(recording);
	page_versions_release(&recording->versions);
	slices_release(&recording->slices);
	recording_forget(recording);
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

uint64_t recording_start(const struct recording *recording)
{
	return recording_time(recording, 0);
}

uint64_t recording_end(const struct recording *recording)
{
	return recording->end;
}

size_t recording_segment_at(const struct recording *recording, uint64_t t)
{
	size_t low = 0, high = recording->segment_count;

	assert(recording_start(recording) <= t && t <= recording->end);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (recording->segments[middle].time <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool recording_is_cut(const struct recording *recording, size_t segment)
{
	return !recording->has_summary &&
	       segment + 1 == recording->segment_count;
}

/* ------- the parts of a segment ------- */

int recording_frame_in(struct recording *recording, uint32_t chunk,
		       struct key_frame *out, struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);
	uint8_t *bytes;
	int rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);

	if (rc)
		return rc;
	*out = (struct key_frame) { 0 };
	rc = key_frame_decode(out, recording->table, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, chunk, rc, "contents", why);
	if (out->time != info->first) {
		key_frame_release(out);
		return recording_damaged(recording, chunk, ERR_CORRUPT, "time",
					 why);
	}
	return 0;
}

int recording_key_frame(struct recording *recording, size_t segment,
			struct key_frame *out, struct failure *why)
{
	assert(segment < recording->segment_count);
	return recording_frame_in(recording,
				  recording->segments[segment].parts->key_frame,
				  out, why);
}

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
		return recording_damaged(recording, chunk, rc, "contents",
					 why);
	return 0;
}
