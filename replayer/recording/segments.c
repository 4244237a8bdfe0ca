/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segments.c - see segments.h */
#include "replayer/recording/segments_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"

const struct trace_reader *recording_reader(const struct recording *recording)
{
	return recording->reader;
}

const struct reg_table *recording_reg_table(const struct recording *recording)
{
	return recording->table;
}

bool recording_is_machine(const struct recording *recording)
{
	return arch_is_machine(recording->table->arch);
}

int recording_check_program(const struct recording *recording,
			    struct failure *why)
{
	return recording_is_machine(recording) ?
		       failed(why, ERR_INPUT, "'%s' is the recording of a"
			      " machine: this cannot be asked of machines yet",
			      trace_reader_path(recording->reader)) : 0;
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

/* ------- key frames and indexes ------- */

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
	out->only_writes = recording_is_machine(recording);
	return 0;
}
