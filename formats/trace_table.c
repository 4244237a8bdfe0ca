/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_table.c - which chunks a trace file has: by its footer, or by walking
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/trace_reader_internal.h"

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Adds a chunk to the list, if this build can use it. */
static int add_chunk(struct trace_reader *reader, const struct chunk_info *info,
		     struct failure *why)
{
	unsigned kind = info->kind;

	if (!chunk_kind_is_known(kind)) {
		if (chunk_kind_may_be_skipped(kind))
			return 0;
		return failed(why, ERR_VERSION,
			      "'%s': chunk at byte %" PRIu64 " is of kind %u, "
							     "which this "
							     "version of cprec"
			      " does not know",
			      reader->path, info->offset, kind);
	}
	if (array_room(reader->infos, reader->count, reader->capacity))
		return no_memory(why);
	reader->infos[reader->count++] = *info;
	return 0;
}

/* Takes the footer's table, which must describe the file up to the footer. */
static int take_table(struct trace_reader *reader,
		      const struct chunk_info *footer, const uint8_t *bytes,
		      struct failure *why)
{
	struct input in = { bytes, bytes + footer->size, 0 };
	uint64_t count = input_count(&in, footer->offset / CHUNK_HEADER_SIZE);
	struct chunk_info info = { .offset = TRACE_HEADER_SIZE };
	int rc = in.error;

	for (uint64_t i = 0; i < count && !rc; i++) {
		rc = footer_line_decode(&in, &info);
		if (!rc && info.kind == CHUNK_FOOTER)
			rc = ERR_CORRUPT;
		if (rc)
			break;
		rc = add_chunk(reader, &info, why);
		if (rc)
			return rc;
		info.offset = chunk_end(&info);
	}
	if (!rc && (input_left(&in) || info.offset != footer->offset))
		rc = ERR_CORRUPT;
	if (rc)
		return reader_damaged(reader, ERR_CORRUPT, "footer",
				      footer->offset, "table of chunks", why);
	return 0;
}

/* Whether a footer's header agrees with the place where it was found. */
static bool is_footer(const struct trace_reader *reader,
		      const struct chunk_info *info)
{
	return info->kind == CHUNK_FOOTER && !info->stream && !info->segment &&
	       !info->first &&
	       chunk_end(info) == reader->size - TRACE_TRAILER_SIZE;
}

static int read_footer(struct trace_reader *reader, uint64_t offset,
		       struct failure *why)
{
	uint8_t header[CHUNK_HEADER_SIZE];
	struct chunk_info footer = { 0 };
	uint8_t *bytes;
	uint64_t checksum;
	int rc;

	if (offset < TRACE_HEADER_SIZE ||
	    offset > reader->size - TRACE_TRAILER_SIZE - CHUNK_HEADER_SIZE)
		return reader_damaged(reader, ERR_CORRUPT, "trailer",
				      reader->size - TRACE_TRAILER_SIZE,
				      "offset of the footer", why);
	rc = reader_bytes(reader, header, sizeof(header), offset, why);
	if (rc)
		return rc;
	rc = chunk_header_decode(&footer, &checksum, header);
	footer.offset = offset;
	if (!rc && !is_footer(reader, &footer))
		rc = ERR_CORRUPT;
	if (rc)
		return reader_damaged(reader, rc, "footer", offset,
				      reader_header_problem(rc), why);
	rc = reader_chunk(reader, &footer, &bytes, why);
	if (rc)
		return rc;
	rc = take_table(reader, &footer, bytes, why);
	free(bytes);
	reader->is_complete = true;
	return rc;
}

/* ------- without the footer ------- */

/*
 * The table is damaged, or what points to it; but all chunks are there: the
 * walk has come to the place where they end.
 */
static int do_without(struct trace_reader *reader, const char *what,
		      uint64_t offset, struct failure *why)
{
	if (asprintf(&reader->note,
		     "'%s': the %s at byte %" PRIu64 " is damaged; its chunks "
						     "were found without it",
		     reader->path, what, offset) < 0) {
		reader->note = NULL;
		return no_memory(why);
	}
	reader->is_complete = true;
	return 0;
}

/*
 * A footer was found by walking, but no trailer: either the file was cut
 * between the two, or what follows the footer is not what was written.
 */
static int end_at_footer(struct trace_reader *reader,
			 const struct chunk_info *footer, struct failure *why)
{
	uint64_t end = chunk_end(footer);

	if (reader->size - end < TRACE_TRAILER_SIZE)
		return 0;
	if (reader->size - end == TRACE_TRAILER_SIZE)
		return do_without(reader, "trailer", end, why);
	return reader_damaged(reader, ERR_CHECKSUM, "trailer", end,
			      "bytes behind the end", why);
}

/* The header of the chunk at info->offset; `*problem` says what is wrong. */
static int read_next(const struct trace_reader *reader, struct chunk_info *info,
		     int *problem, struct failure *why)
{
	uint8_t header[CHUNK_HEADER_SIZE];
	uint64_t checksum;
	int rc =
		reader_bytes(reader, header, sizeof(header), info->offset, why);

	if (!rc)
		*problem = chunk_header_decode(info, &checksum, header);
	return rc;
}

/*
 * Finds the whole chunks from header to header.  What does not fit in the file
 * any more was never written: the recorder was killed, the disk was full, or
 * the recording goes on.  `footer` is where the trailer says that the footer
 * is, which is damaged; 0 if there is no trailer.  Nothing but the footer
 * comes behind a summary.
 */
static int walk(struct trace_reader *reader, uint64_t footer,
		struct failure *why)
{
	struct chunk_info info = { .offset = TRACE_HEADER_SIZE };

	while (reader->size - info.offset >= CHUNK_HEADER_SIZE) {
		bool is_last = info.kind == CHUNK_SUMMARY;
		int problem = 0, rc;

		if (info.offset == footer)
			return do_without(reader, "footer", footer, why);
		rc = read_next(reader, &info, &problem, why);
		if (rc)
			return rc;
		if (problem && is_last)
			return do_without(reader, "footer", info.offset, why);
		if (problem)
			return reader_damaged(reader, problem, "chunk",
					      info.offset,
					      reader_header_problem(problem),
					      why);
		if (chunk_end(&info) > reader->size)
			return 0;
		if (info.kind == CHUNK_FOOTER)
			return end_at_footer(reader, &info, why);
		rc = add_chunk(reader, &info, why);
		if (rc)
			return rc;
		info.offset = chunk_end(&info);
	}
	return 0;
}

/* ------- all of it ------- */

/* Finds the chunks by the footer; failing that, by walking. */
static int use_footer(struct trace_reader *reader, uint64_t offset,
		      struct failure *why)
{
	struct failure footer;
	int rc = read_footer(reader, offset, &footer);

	if (rc == ERR_CORRUPT || rc == ERR_CHECKSUM) {
		reader->count = 0;
		reader->is_complete = false;
		return walk(reader, offset, why);
	}
	return rc ? failed(why, (enum error)rc, "%s", footer.text) : 0;
}

int reader_find_chunks(struct trace_reader *reader, struct failure *why)
{
	uint8_t trailer[TRACE_TRAILER_SIZE];
	uint64_t offset;
	int rc;

	if (reader->size <
	    TRACE_HEADER_SIZE + CHUNK_HEADER_SIZE + sizeof(trailer))
		return walk(reader, 0, why);
	rc = reader_bytes(reader, trailer, sizeof(trailer),
			  reader->size - sizeof(trailer), why);
	if (rc)
		return rc;
	if (trace_trailer_decode(&offset, trailer))
		return walk(reader, 0, why);
	return use_footer(reader, offset, why);
}
