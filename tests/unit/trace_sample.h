/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_sample.h - a small recording to write, cut and damage
 *
 * Each test program has a folder and a trace of its own there, `path`.
 */
#ifndef CPREC_TESTS_UNIT_TRACE_SAMPLE_H
#define CPREC_TESTS_UNIT_TRACE_SAMPLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/trace_layout.h"
#include "tests/unit/table.h"

static const struct trace_header header = {
	.version = TRACE_VERSION,
	.arch = 1,
	.id = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

struct chunk {
	enum chunk_kind kind;
	uint32_t stream, segment;
	uint64_t first;
	size_t size;
	unsigned period;	/* of the content's bytes: how well it packs */
};

static const struct chunk chunks[] = {
	{ CHUNK_META, 0, 0, 0, 21, 251 },
	{ CHUNK_KEY_FRAME, 1, 0, 0, 300, 7 },
	{ CHUNK_PAGES, 0, 0, 1, 8192, 40 },
	{ CHUNK_EVENTS, 1, 0, 0, 0, 1 },
	{ CHUNK_READS, 1, 0, 0, 1, 1 },
	{ CHUNK_INDEX, 1, 0, 0, 16, 251 },
	{ CHUNK_KEY_FRAME, 1, 1, UINT64_C(1) << 60, 90, 251 },
	{ CHUNK_SNAPSHOT, 0, 0, 0, 3, 3 },
	{ CHUNK_PROGRAM, 1, 1, UINT64_C(1) << 60, 40, 40 },
	{ CHUNK_SYMBOLS, 0, UINT32_MAX, 0, 150, 5 },
	{ CHUNK_SUMMARY, UINT32_MAX, 0, 0, 12, 12 },
};

static inline uint8_t content_byte(const struct chunk *chunk, size_t i)
{
	return (uint8_t)(i % chunk->period * 29 + chunk->kind);
}

static char directory[] = "/tmp/cprec-test-XXXXXX";
static char path[64];

static inline int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/t.cpr", directory);
	return 0;
}

static inline int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static inline int put_chunk(struct trace_writer *writer, const struct chunk *chunk,
		     struct failure *why)
{
	struct output content = { 0 };
	int rc;

	for (size_t i = 0; i < chunk->size; i++)
		output_uint(&content, content_byte(chunk, i), 1);
	rc = trace_writer_chunk(writer, chunk->kind, chunk->stream,
				chunk->segment, chunk->first, &content, why);
	assert_null(content.bytes);
	assert_int_equal(content.size, 0);
	return rc;
}

/* Writes the recording; returns the first error. */
static inline int write_recording(bool is_finished, struct failure *why)
{
	struct trace_writer *writer;
	int rc = trace_writer_open(&writer, path, &header, 3, why);

	if (rc)
		return rc;
	for (size_t i = 0; i < COUNT(chunks) && !rc; i++)
		rc = put_chunk(writer, &chunks[i], why);
	if (is_finished) {
		struct failure *end = rc ? NULL : why;
		int ended = trace_writer_finish(writer, end);

		/* The first error stays. */
		assert_true(!rc || ended == rc);
		rc = ended;
	}
	trace_writer_close(writer);
	return rc;
}

static inline void make_recording(bool is_finished)
{
	unlink(path);
	assert_int_equal(write_recording(is_finished, NULL), 0);
}

static inline uint8_t *load(size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat status;
	uint8_t *bytes, more;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	assert_int_equal(read(fd, &more, 1), 0);
	close(fd);
	return bytes;
}

static inline void save(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static inline void assert_chunk(const struct trace_reader *reader, size_t index)
{
	const struct chunk_info *info = trace_reader_info(reader, index);
	const struct chunk *chunk = &chunks[index];
	uint8_t *bytes;

	assert_int_equal(info->kind, chunk->kind);
	assert_int_equal(info->stream, chunk->stream);
	assert_int_equal(info->segment, chunk->segment);
	assert_true(info->first == chunk->first);
	assert_int_equal(info->size, chunk->size);
	assert_int_equal(trace_reader_chunk(reader, index, &bytes, NULL), 0);
	for (size_t i = 0; i < chunk->size; i++)
		if (bytes[i] != content_byte(chunk, i))
			fail_msg("chunk %zu differs at byte %zu", index, i);
	free(bytes);
}

static inline void assert_header(const struct trace_reader *reader)
{
	assert_memory_equal(trace_reader_header(reader), &header,
			    sizeof(header));
}

/* The first error on opening the file and reading all of it. */
static inline int read_everything(struct failure *why)
{
	struct trace_reader *reader;
	int rc = trace_reader_open(&reader, path, why);

	if (rc)
		return rc;
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++) {
		uint8_t *bytes;

		rc = trace_reader_chunk(reader, i, &bytes, why);
		if (!rc)
			free(bytes);
	}
	trace_reader_close(reader);
	return rc;
}

#endif
