/* SPDX-License-Identifier: GPL-2.0-or-later */
/* end.c - see end.h */
#include "replayer/recording/end.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/error.h"
#include "formats/moments.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/packets.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/segments_internal.h"

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
 * The last time at which the clock was looked at, if that was in the last
 * segment: this is written behind all that happened until then.  It is no end
 * of a slice, and says nothing if there are several threads.
 */
static uint64_t last_look(const struct recording *recording)
{
	uint32_t last = (uint32_t)recording->segment_count - 1;
	uint32_t chunk = recording->last_moments;
	const struct chunk_info *info;
	struct moment *list = NULL;
	uint8_t *bytes;
	uint64_t time = 0;
	size_t count;

	if (recording->thread_count != 1 || chunk == NO_CHUNK)
		return 0;
	info = trace_reader_info(recording->reader, chunk);
	if (info->segment != last ||
	    trace_reader_chunk(recording->reader, chunk, &bytes, NULL))
		return 0;
	if (!moments_decode(&list, &count, bytes, info->size) && count)
		time = list[count - 1].time;
	free(list);
	free(bytes);
	return time;
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
	uint64_t steps = 0, looked;
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
	looked = last_look(recording);
	if (looked > recording->end)
		recording->end = looked;
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
			      trace_reader_is_growing(recording->reader) ?
				      "'%s' is still being written: it has no"
				      " key frame yet" :
				      "'%s' ends before its first key frame",
			      trace_reader_path(recording->reader));
	rc = end_of_segment(recording, why);
	if (!rc && end)
		recording->end = end;
	return rc;
}

int recording_find_end(struct recording *recording, struct failure *why)
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
