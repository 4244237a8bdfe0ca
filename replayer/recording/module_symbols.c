/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_symbols.c - see module_symbols.h */
#include "replayer/recording/module_symbols.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"

bool recording_is_symbols(const struct recording *recording, size_t chunk)
{
	enum chunk_kind kind =
		trace_reader_info(recording->reader, chunk)->kind;

	return kind == CHUNK_SYMBOLS || kind == CHUNK_SYMBOLS_AT;
}

/* The chunk of symbols at an offset; the count of chunks if there is none. */
static size_t find(const struct trace_reader *reader, uint64_t offset)
{
	size_t low = 0, high = trace_reader_count(reader);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace_reader_info(reader, middle)->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < trace_reader_count(reader) &&
	    (trace_reader_info(reader, low)->offset != offset ||
	     trace_reader_info(reader, low)->kind != CHUNK_SYMBOLS))
		low = trace_reader_count(reader);
	return low;
}

static int read_elsewhere(struct recording *recording,
			  const struct symbols_at *at, uint8_t **bytes,
			  size_t *size, struct failure *why)
{
	struct member_file *file;
	size_t chunk;
	int rc = members_open(&recording->members, at->member, &file, why);

	if (rc)
		return rc;
	chunk = find(file->reader, at->offset);
	if (chunk == trace_reader_count(file->reader))
		return failed(why, ERR_CORRUPT, "'%s' needs symbols at byte %"
			      PRIu64 " of '%s', which are not there",
			      trace_reader_path(recording->reader), at->offset,
			      trace_reader_path(file->reader));
	*size = trace_reader_info(file->reader, chunk)->size;
	return trace_reader_chunk(file->reader, chunk, bytes, why);
}

int recording_symbols(struct recording *recording, size_t chunk,
		      uint8_t **bytes, size_t *size, struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);
	struct symbols_at at;
	int rc = trace_reader_chunk(recording->reader, chunk, bytes, why);

	*size = info->size;
	if (rc || info->kind == CHUNK_SYMBOLS)
		return rc;
	rc = symbols_at_decode(&at, *bytes, *size);
	free(*bytes);
	*bytes = NULL;
	if (rc)
		return recording_damaged(recording, (uint32_t)chunk, rc,
					 "contents", why);
	return read_elsewhere(recording, &at, bytes, size, why);
}
