/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_trace_damage.c - trace files that are cut, damaged or no traces */
#include "tests/unit/trace_sample.h"

/* ------- a file that is cut ------- */

/* Opens what `size` bytes of a good file are, and checks what is there. */
static void check_prefix(const uint8_t *bytes, size_t size, size_t whole_size)
{
	struct trace_reader *reader;
	struct failure why = { "" };
	size_t offset = TRACE_HEADER_SIZE;
	size_t count;
	int rc;

	save(bytes, size);
	rc = trace_reader_open(&reader, path, &why);
	if (size < TRACE_HEADER_SIZE) {
		assert_int_equal(rc, ERR_TRUNCATED);
		assert_non_null(strstr(why.text, path));
		return;
	}
	if (rc)
		fail_msg("%zu of %zu bytes: %s", size, whole_size, why.text);
	assert_header(reader);
	assert_int_equal(trace_reader_is_complete(reader), size == whole_size);
	count = trace_reader_count(reader);
	for (size_t i = 0; i < count; i++) {
		assert_chunk(reader, i);
		offset += CHUNK_HEADER_SIZE +
			  trace_reader_info(reader, i)->stored_size;
	}
	/* Nothing that is whole is missing: the next one does not fit. */
	if (count < COUNT(chunks)) {
		assert_true(offset <= size);
		if (size - offset >= CHUNK_HEADER_SIZE) {
			struct chunk_info next;
			uint64_t checksum;

			assert_int_equal(chunk_header_decode(
				&next, &checksum, bytes + offset), 0);
			assert_true(size - offset - CHUNK_HEADER_SIZE <
				    next.stored_size);
		}
	}
	trace_reader_close(reader);
}

static void every_prefix(void **state)
{
	size_t size;
	uint8_t *bytes;

	(void)state;
	make_recording(true);
	bytes = load(&size);
	for (size_t n = 0; n <= size; n++)
		check_prefix(bytes, n, size);
	free(bytes);
}

/* ------- a file that is damaged ------- */

/* Where the chunks end, in a good file. */
static size_t end_of_chunks(void)
{
	struct trace_reader *reader;
	size_t end;

	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_int_equal(trace_reader_count(reader), COUNT(chunks));
	assert_null(trace_reader_note(reader));
	end = (size_t)chunk_end(trace_reader_info(reader, COUNT(chunks) - 1));
	trace_reader_close(reader);
	return end;
}

/* All chunks are found though this part of the end is damaged. */
static void check_damaged_end(const char *part, size_t offset)
{
	struct trace_reader *reader;
	struct failure why = { "" };
	char note[200];

	if (trace_reader_open(&reader, path, &why))
		fail_msg("the %s: %s", part, why.text);
	snprintf(note, sizeof(note),
		 "'%s': the %s at byte %zu is damaged; its chunks were found "
		 "without it", path, part, offset);
	assert_non_null(trace_reader_note(reader));
	assert_string_equal(trace_reader_note(reader), note);
	assert_true(trace_reader_is_complete(reader));
	assert_header(reader);
	assert_int_equal(trace_reader_count(reader), COUNT(chunks));
	for (size_t i = 0; i < COUNT(chunks); i++)
		assert_chunk(reader, i);
	trace_reader_close(reader);
}

static void check_flipped(size_t bit)
{
	struct failure why = { "" };
	int rc = read_everything(&why);

	if (rc != ERR_CORRUPT && rc != ERR_CHECKSUM)
		fail_msg("byte %zu bit %zu: %d %s", bit / 8, bit % 8, rc,
			 why.text);
	assert_non_null(strstr(why.text, path));
}

static void flip_every_bit(bool is_finished)
{
	size_t size, end;
	uint8_t *bytes;
	int fd;

	make_recording(is_finished);
	bytes = load(&size);
	end = end_of_chunks();
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		uint8_t flipped = bytes[bit / 8] ^ (uint8_t)(1u << bit % 8);

		assert_int_equal(pwrite(fd, &flipped, 1, (off_t)(bit / 8)), 1);
		if (bit / 8 < end)
			check_flipped(bit);
		else if (bit / 8 < size - TRACE_TRAILER_SIZE)
			check_damaged_end("footer", end);
		else
			check_damaged_end("trailer", size - TRACE_TRAILER_SIZE);
		assert_int_equal(pwrite(fd, &bytes[bit / 8], 1,
					(off_t)(bit / 8)), 1);
	}
	close(fd);
	assert_int_equal(read_everything(NULL), 0);
	free(bytes);
}

static void every_bit_of_a_whole_file(void **state)
{
	(void)state;
	flip_every_bit(true);
}

static void every_bit_of_a_file_without_footer(void **state)
{
	(void)state;
	flip_every_bit(false);
}

/* ------- files that were never good ------- */

/* Changes a good file before it is opened; returns its new size. */
typedef size_t damage(uint8_t *bytes, size_t size);

static void seal(uint8_t *bytes, size_t size)
{
	uint64_t sum = trace_checksum(bytes, size - 8);

	for (unsigned i = 0; i < 8; i++)
		bytes[size - 8 + i] = (uint8_t)(sum >> 8 * i);
}

static size_t nothing_at_all(uint8_t *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return 0;
}

static size_t other_text(uint8_t *bytes, size_t size)
{
	memcpy(bytes, "#!/bin/sh\n", 10);
	return size;
}

static size_t short_other_text(uint8_t *bytes, size_t size)
{
	(void)size;
	memcpy(bytes, "hi\n", 3);
	return 3;
}

static size_t newer_version(uint8_t *bytes, size_t size)
{
	bytes[8] = TRACE_VERSION + 5;
	bytes[12] = TRACE_VERSION + 1;
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t older_version(uint8_t *bytes, size_t size)
{
	bytes[8] = bytes[12] = TRACE_OLDEST - 1;
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t with_feature(uint8_t *bytes, size_t size, uint32_t feature)
{
	for (unsigned i = 0; i < 4; i++)
		bytes[36 + i] = (uint8_t)(feature >> 8 * i);
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t parallel_threads(uint8_t *bytes, size_t size)
{
	return with_feature(bytes, size, FEATURE_PARALLEL);
}

static size_t devices(uint8_t *bytes, size_t size)
{
	return with_feature(bytes, size, FEATURE_DEVICES);
}

static size_t physical_addresses(uint8_t *bytes, size_t size)
{
	return with_feature(bytes, size, FEATURE_PHYSICAL);
}

static size_t ring(uint8_t *bytes, size_t size)
{
	return with_feature(bytes, size, FEATURE_RING);
}

static size_t last_feature(uint8_t *bytes, size_t size)
{
	return with_feature(bytes, size, UINT32_C(1) << 31);
}

static size_t newer_but_readable(uint8_t *bytes, size_t size)
{
	bytes[8] = TRACE_VERSION + 5;
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t version_zero(uint8_t *bytes, size_t size)
{
	bytes[8] = 0;
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t reserved_in_header(uint8_t *bytes, size_t size)
{
	bytes[50] = 1;
	seal(bytes, TRACE_HEADER_SIZE);
	return size;
}

static size_t reserved_in_chunk(uint8_t *bytes, size_t size)
{
	bytes[TRACE_HEADER_SIZE + 5] = 1;
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	return size;
}

/* A chunk of this kind and nothing behind it. */
static size_t only_kind(uint8_t *bytes, uint8_t kind)
{
	bytes[TRACE_HEADER_SIZE + 4] = kind;
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	return TRACE_HEADER_SIZE + CHUNK_HEADER_SIZE + chunks[0].size;
}

static size_t kind_zero(uint8_t *bytes, size_t size)
{
	(void)size;
	return only_kind(bytes, 0);
}

static size_t kind_unknown(uint8_t *bytes, size_t size)
{
	(void)size;
	return only_kind(bytes, 11);
}

static size_t kind_skippable(uint8_t *bytes, size_t size)
{
	(void)size;
	return only_kind(bytes, 0xfe);
}

static void set_uint32(uint8_t *bytes, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

static size_t stored_above_content(uint8_t *bytes, size_t size)
{
	set_uint32(bytes + TRACE_HEADER_SIZE + 20, 20);
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	return size;
}

static size_t content_above_limit(uint8_t *bytes, size_t size)
{
	set_uint32(bytes + TRACE_HEADER_SIZE + 20, TRACE_CHUNK_MAX + 1);
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	return size;
}

static size_t not_compressed(uint8_t *bytes, size_t size)
{
	set_uint32(bytes + TRACE_HEADER_SIZE + 20, 22);
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	(void)size;
	return TRACE_HEADER_SIZE + CHUNK_HEADER_SIZE + chunks[0].size;
}

static size_t bytes_behind_the_end(uint8_t *bytes, size_t size)
{
	bytes[size] = 0;
	return size + 1;
}

static size_t zeros_behind_a_chunk(uint8_t *bytes, size_t size)
{
	size_t end = TRACE_HEADER_SIZE + CHUNK_HEADER_SIZE + chunks[0].size;

	memset(bytes + end, 0, size - end);
	return size;
}

static size_t footer_elsewhere(uint8_t *bytes, size_t size)
{
	bytes[size - TRACE_TRAILER_SIZE]++;
	seal(bytes + size - TRACE_TRAILER_SIZE, TRACE_TRAILER_SIZE);
	return size;
}

static size_t footer_past_the_end(uint8_t *bytes, size_t size)
{
	memset(bytes + size - TRACE_TRAILER_SIZE, 0xff, 8);
	seal(bytes + size - TRACE_TRAILER_SIZE, TRACE_TRAILER_SIZE);
	return size;
}

/* Where the footer's header is, as the trailer says. */
static size_t footer_of(const uint8_t *bytes, size_t size)
{
	struct input in = { bytes + size - TRACE_TRAILER_SIZE, bytes + size,
			    0 };

	return (size_t)input_uint(&in, 8);
}

static size_t no_trailer_and_footer(uint8_t *bytes, size_t size)
{
	bytes[footer_of(bytes, size) + 5] ^= 1;
	bytes[size - 1] ^= 1;
	return size;
}

/* The summary becomes another chunk: nothing says that it is the last one. */
static size_t no_end_without_summary(uint8_t *bytes, size_t size)
{
	size_t summary = footer_of(bytes, size) - CHUNK_HEADER_SIZE -
			 chunks[COUNT(chunks) - 1].size;

	bytes[summary + 4] = CHUNK_SYMBOLS;
	seal(bytes + summary, CHUNK_HEADER_SIZE);
	return no_trailer_and_footer(bytes, size);
}

static size_t footer_and_chunk(uint8_t *bytes, size_t size)
{
	bytes[footer_of(bytes, size) + 5] ^= 1;
	bytes[TRACE_HEADER_SIZE + CHUNK_HEADER_SIZE + chunks[0].size + 5] ^= 1;
	return size;
}

/* The header of the first chunk differs from what the table says. */
static size_t other_segment(uint8_t *bytes, size_t size)
{
	bytes[TRACE_HEADER_SIZE + 12] = 3;
	seal(bytes + TRACE_HEADER_SIZE, CHUNK_HEADER_SIZE);
	return size;
}

struct damage_row {
	const char *name;
	damage *change;
	int expected;
	const char *message;	/* a part of it */
};

static const struct damage_row damage_rows[] = {
	{ "an empty file", nothing_at_all, ERR_TRUNCATED,
	  "ends in its header" },
	{ "a file that is no trace", other_text, ERR_CORRUPT,
	  "is not a cprec recording" },
	{ "a short file that is no trace", short_other_text, ERR_CORRUPT,
	  "is not a cprec recording" },
	{ "a file for newer readers", newer_version, ERR_VERSION,
	  "needs a reader of version 10, this is 9" },
	{ "a newer file that can be read", newer_but_readable, 0, "" },
	{ "a file of an older version", older_version, ERR_VERSION,
	  "was made by an older cprec, in version 7 of the format; this one "
	  "reads 8 and newer: record again" },
	{ "threads in parallel", parallel_threads, ERR_VERSION,
	  "needs threads that run in parallel, which this cprec cannot read" },
	{ "devices of a program", devices, ERR_CORRUPT,
	  "header at byte 0 is damaged" },
	{ "physical addresses of a program", physical_addresses, ERR_CORRUPT,
	  "header at byte 0 is damaged" },
	{ "a generation of a ring", ring, ERR_VERSION,
	  "needs generations of a ring, which this cprec cannot read" },
	{ "a feature without a name", last_feature, ERR_VERSION,
	  "needs a feature that this cprec does not know (0x80000000)" },
	{ "version zero", version_zero, ERR_CORRUPT,
	  "header at byte 0 is damaged" },
	{ "a reserved bit of the header", reserved_in_header, ERR_CORRUPT,
	  "header at byte 0 is damaged" },
	{ "a reserved bit of a chunk", reserved_in_chunk, ERR_CORRUPT,
	  "meta data at byte 64 is damaged" },
	{ "a chunk of kind zero", kind_zero, ERR_VERSION,
	  "chunk at byte 64 is of kind 0" },
	{ "a chunk of unknown kind", kind_unknown, ERR_VERSION,
	  "chunk at byte 64 is of kind 11" },
	{ "a chunk of unknown kind that may be skipped", kind_skippable, 0,
	  "" },
	{ "a stored size above the size", stored_above_content, ERR_CORRUPT,
	  "at byte 64 is damaged" },
	{ "a size above the limit", content_above_limit, ERR_CORRUPT,
	  "at byte 64 is damaged" },
	{ "content that is not compressed", not_compressed, ERR_CORRUPT,
	  "meta data at byte 64 is damaged" },
	{ "a byte behind the end", bytes_behind_the_end, ERR_CHECKSUM,
	  "(bytes behind the end)" },
	{ "zeros behind a chunk", zeros_behind_a_chunk, ERR_CHECKSUM,
	  "chunk at byte 133 is damaged" },
	{ "a footer that is elsewhere", footer_elsewhere, 0, "" },
	{ "a footer past the end", footer_past_the_end, 0, "" },
	{ "a damaged footer and no trailer", no_trailer_and_footer, 0, "" },
	{ "the same without a summary", no_end_without_summary, ERR_CHECKSUM,
	  "chunk at byte" },
	{ "a damaged footer behind a damaged chunk", footer_and_chunk,
	  ERR_CHECKSUM, "chunk at byte 133 is damaged" },
	{ "a table that differs from a chunk", other_segment, ERR_CORRUPT,
	  "meta data at byte 64 is damaged" },
};

static void damage_row(void **state)
{
	const struct damage_row *row = *state;
	struct failure why = { "" };
	size_t size;
	uint8_t *bytes;
	int rc;

	make_recording(true);
	bytes = load(&size);
	size = row->change(bytes, size);
	save(bytes, size);
	free(bytes);
	rc = read_everything(&why);
	if (rc != row->expected || !strstr(why.text, row->message))
		fail_msg("%d, not %d: %s", rc, row->expected, why.text);
}

static void skipped_chunk_is_not_listed(void **state)
{
	struct trace_reader *reader;
	size_t size;
	uint8_t *bytes;

	(void)state;
	make_recording(true);
	bytes = load(&size);
	save(bytes, only_kind(bytes, 0xff));
	free(bytes);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_int_equal(trace_reader_count(reader), 0);
	trace_reader_close(reader);
}

struct place_row {
	const char *name;
	const char *path;
	int expected;
	const char *message;
};

static const struct place_row place_rows[] = {
	{ "a file that is not there", "/nowhere/t.cpr", ERR_SYSTEM,
	  "cannot open '/nowhere/t.cpr': No such file or directory" },
	{ "a directory", "/", ERR_CORRUPT, "'/' is not a cprec recording" },
	{ "a device", "/dev/null", ERR_CORRUPT,
	  "'/dev/null' is not a cprec recording" },
};

static void place_row(void **state)
{
	const struct place_row *row = *state;
	struct trace_reader *reader = NULL;
	struct failure why = { "" };

	assert_int_equal(trace_reader_open(&reader, row->path, &why),
			 row->expected);
	assert_null(reader);
	assert_non_null(strstr(why.text, row->message));
}

static void structure_that_does_not_decode(void **state)
{
	struct trace_reader *reader;
	struct failure why;

	(void)state;
	make_recording(true);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_int_equal(trace_reader_damaged(reader, 1, ERR_CORRUPT,
					      "registers", &why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, path));
	assert_non_null(strstr(why.text,
			       "key frame at byte 133 is damaged (registers)"));
	trace_reader_close(reader);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "every prefix of a whole file", every_prefix, NULL);
	add_test(&list, "every flipped bit of a whole file",
		 every_bit_of_a_whole_file, NULL);
	add_test(&list, "every flipped bit of a file without footer",
		 every_bit_of_a_file_without_footer, NULL);
	add_rows(&list, damage_rows, damage_row);
	add_test(&list, "a skipped chunk is not listed",
		 skipped_chunk_is_not_listed, NULL);
	add_rows(&list, place_rows, place_row);
	add_test(&list, "a structure that does not decode",
		 structure_that_does_not_decode, NULL);
	return _cmocka_run_group_tests("trace_damage", list.tests, list.count,
				       make_directory, remove_directory);
}
