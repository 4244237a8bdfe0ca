/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the file is, opening it and reading its chunks stays in bounds,
 * returns a documented code and says why.  A fuzzer does not find checksums:
 * if the first byte is odd, those of the header, of chunk headers and of
 * stored bytes, and of the trailer, are made right first.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/trace_layout.h"

static void put_checksum(uint8_t *at, uint64_t sum)
{
	for (unsigned i = 0; i < 8; i++)
		at[i] = (uint8_t)(sum >> 8 * i);
}

static void seal(uint8_t *bytes, size_t size)
{
	put_checksum(bytes + size - 8, trace_checksum(bytes, size - 8));
}

/* Makes the checksums right, as far as the sizes make sense. */
static void repair(uint8_t *bytes, size_t size)
{
	size_t at = TRACE_HEADER_SIZE;

	if (size < TRACE_HEADER_SIZE)
		return;
	seal(bytes, TRACE_HEADER_SIZE);
	while (size - at >= CHUNK_HEADER_SIZE) {
		uint8_t *header = bytes + at;
		struct input in = { header + 16, header + 20, 0 };
		size_t stored = input_uint(&in, 4);

		if (stored > size - at - CHUNK_HEADER_SIZE)
			break;
		put_checksum(header + 32,
			     trace_checksum(header + CHUNK_HEADER_SIZE,
					    stored));
		seal(header, CHUNK_HEADER_SIZE);
		at += CHUNK_HEADER_SIZE + stored;
	}
	if (size - at == TRACE_TRAILER_SIZE)
		seal(bytes + at, TRACE_TRAILER_SIZE);
	else if (size - at >= CHUNK_HEADER_SIZE)
		seal(bytes + at, CHUNK_HEADER_SIZE);
}

/* A file in memory with these bytes; its name is put in `path`. */
static int make_file(char path[64], const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	assert(fd >= 0);
	assert(write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static bool is_failure(int rc, const struct failure *why)
{
	return (rc == ERR_VERSION || rc == ERR_CHECKSUM || is_documented(rc)) &&
	       why->text[0];
}

static void try_file(const char *path)
{
	struct trace_reader *reader;
	struct failure why = { "" };
	int rc = trace_reader_open(&reader, path, &why);

	if (rc) {
		assert(is_failure(rc, &why));
		return;
	}
	for (size_t i = 0; i < trace_reader_count(reader); i++) {
		const struct chunk_info *info = trace_reader_info(reader, i);
		uint8_t *bytes;

		assert(chunk_kind_is_known(info->kind));
		assert(info->kind != CHUNK_FOOTER);
		assert(info->size <= TRACE_CHUNK_MAX);
		assert(chunk_end(info) <= trace_reader_size(reader));
		rc = trace_reader_chunk(reader, i, &bytes, &why);
		assert(!rc || is_failure(rc, &why));
		if (!rc)
			free(bytes);
	}
	trace_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;
	char path[64];
	int fd;

	if (!size)
		return 0;
	bytes = malloc(size);
	assert(bytes);
	memcpy(bytes, data + 1, size - 1);
	if (data[0] & 1)
		repair(bytes, size - 1);
	fd = make_file(path, bytes, size - 1);
	try_file(path);
	close(fd);
	free(bytes);
	return 0;
}
