/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_meta.c - meta data and summaries from and to bytes */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/meta.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	int expected;
	size_t length;
	uint8_t bytes[72];
};

#define RUN 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
/* The processor, the run, its generation, no parent: 23 bytes. */
#define REST 1, 'w', 1, RUN, 0, 0, 0, 0
/* Of no texts, 9 bytes. */
#define HEAD 0, 0, 0, 0, 0, 0, 0x80, 0x80, 1

static const struct row meta_rows[] = {
	{ "meta data", 0, 41,
	  { 2, 2, 'l', 's', 0, 1, 'p', 1, '/', 1, 'h', 1, 'm', 9, 0x80, 0x80,
	    2, 1, 'w', 5, RUN, 0, 7, 8, 0x80, 1 } },
	{ "meta data of empty texts", 0, 32, { HEAD, REST } },
	{ "an argument with a NUL", ERR_CORRUPT, 34,
	  { 1, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 1, REST } },
	{ "a text of 131073 bytes", ERR_CORRUPT, 35,
	  { 0, 0x81, 0x80, 8, 0, 0, 0, 0, 0, 0x80, 0x80, 1, REST } },
	{ "more arguments than bytes", ERR_TRUNCATED, 9,
	  { 9, 0, 0, 0, 0, 0, 0x80, 0x80, 1 } },
	{ "2^20 arguments", ERR_TRUNCATED, 9,
	  { 0x80, 0x80, 0x40, 0, 0, 0, 0, 0, 0 } },
	{ "2^20 + 1 arguments", ERR_CORRUPT, 9,
	  { 0x81, 0x80, 0x40, 0, 0, 0, 0, 0, 0 } },
	{ "a cache of one entry", ERR_CORRUPT, 30,
	  { 0, 0, 0, 0, 0, 0, 1, REST } },
	{ "a processor without a name", ERR_CORRUPT, 31,
	  { HEAD, 0, 1, RUN, 0, 0, 0, 0 } },
	{ "a behaviour of 0", ERR_CORRUPT, 32,
	  { HEAD, 1, 'w', 0, RUN, 0, 0, 0, 0 } },
	{ "the second generation of a ring", ERR_CORRUPT, 32,
	  { HEAD, 1, 'w', 1, RUN, 1, 0, 0, 0 } },
	{ "a thread of no parent", ERR_CORRUPT, 32,
	  { HEAD, 1, 'w', 1, RUN, 0, 0, 8, 0 } },
	{ "a time of no parent", ERR_CORRUPT, 32,
	  { HEAD, 1, 'w', 1, RUN, 0, 0, 0, 1 } },
	{ "a parent of 2^32", ERR_CORRUPT, 36,
	  { HEAD, 1, 'w', 1, RUN, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 8, 9 } },
	{ "a byte behind the meta data", ERR_CORRUPT, 33, { HEAD, REST, 0 } },
};

/* The row as bytes of their own, so that a sanitizer sees their end. */
static uint8_t *copy(const struct row *row, size_t size)
{
	uint8_t *bytes = malloc(size + !size);

	assert_non_null(bytes);
	memcpy(bytes, row->bytes, size);
	return bytes;
}

static int decode_meta(const struct row *row, size_t size, struct meta *meta)
{
	uint8_t *bytes = copy(row, size);
	int rc = meta_decode(meta, bytes, size);

	free(bytes);
	return rc;
}

static void meta_row(void **state)
{
	const struct row *row = *state;
	struct meta meta = { 0 };
	struct output out = { 0 };
	size_t length = row->length;

	assert_int_equal(decode_meta(row, length, &meta), row->expected);
	if (row->expected) {
		assert_null(meta.path);
		return;
	}
	assert_null(meta.argv[meta.argc]);
	meta_encode(&out, &meta);
	assert_int_equal(out.size, length);
	assert_memory_equal(out.bytes, row->bytes, length);
	meta_release(&meta);
	output_release(&out);
	for (size_t n = 0; n < length; n++)
		assert_int_equal(decode_meta(row, n, &meta), ERR_TRUNCATED);
}

static void members_of_meta_data(void **state)
{
	struct meta meta = { 0 };

	(void)state;
	assert_int_equal(decode_meta(&meta_rows[0], 41, &meta), 0);
	assert_int_equal(meta.argc, 2);
	assert_string_equal(meta.argv[0], "ls");
	assert_string_equal(meta.argv[1], "");
	assert_string_equal(meta.path, "p");
	assert_string_equal(meta.directory, "/");
	assert_string_equal(meta.host, "h");
	assert_string_equal(meta.made_by, "m");
	assert_int_equal(meta.started, 9);
	assert_int_equal(meta.cache_entries, 32768);
	assert_string_equal(meta.processor.model, "w");
	assert_int_equal(meta.processor.behaviour, 5);
	assert_int_equal(meta.run[0], 1);
	assert_int_equal(meta.run[15], 16);
	assert_int_equal(meta.origin.parent, 7);
	assert_int_equal(meta.origin.thread, 8);
	assert_int_equal(meta.origin.time, 128);
	meta_release(&meta);
	meta_release(&meta);
}

static const struct row summary_rows[] = {
	{ "a summary", 0, 12, { 9, 0, 7, 2, 1, 4, 2, 5, 10, 11, 12, 13 } },
	{ "a summary without threads", 0, 8, { 9, 6, 0, 0, 10, 11, 12, 13 } },
	{ "a signal and a code", ERR_CORRUPT, 8, { 9, 6, 1, 0, 0, 0, 0, 0 } },
	{ "a signal of 256", ERR_CORRUPT, 9,
	  { 9, 0x80, 2, 0, 0, 0, 0, 0, 0 } },
	{ "no end: another recording goes on", 0, 9,
	  { 9, 0, 0x80, 2, 0, 10, 11, 12, 13 } },
	{ "a code of 272", ERR_CORRUPT, 9, { 9, 0, 0x90, 2, 0, 0, 0, 0, 0 } },
	{ "a thread of 2^32", ERR_CORRUPT, 14,
	  { 9, 0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0, 0 } },
	{ "more threads than bytes", ERR_TRUNCATED, 8,
	  { 9, 0, 0, 3, 0, 0, 0, 0 } },
	{ "2^20 + 1 threads", ERR_CORRUPT, 9,
	  { 9, 0, 0, 0x81, 0x80, 0x40, 0, 0, 0 } },
	{ "a byte behind the summary", ERR_CORRUPT, 9,
	  { 9, 0, 0, 0, 0, 0, 0, 0, 0 } },
};

static int decode_summary(const struct row *row, size_t size,
			  struct summary *summary)
{
	uint8_t *bytes = copy(row, size);
	int rc = summary_decode(summary, bytes, size);

	free(bytes);
	return rc;
}

static void summary_row(void **state)
{
	const struct row *row = *state;
	struct summary summary = { 0 };
	struct output out = { 0 };

	assert_int_equal(decode_summary(row, row->length, &summary),
			 row->expected);
	if (row->expected) {
		assert_null(summary.threads);
		return;
	}
	summary_encode(&out, &summary);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	summary_release(&summary);
	output_release(&out);
	for (size_t n = 0; n < row->length; n++)
		assert_int_equal(decode_summary(row, n, &summary),
				 ERR_TRUNCATED);
}

static void members_of_a_summary(void **state)
{
	struct summary summary = { 0 };

	(void)state;
	assert_int_equal(decode_summary(&summary_rows[0], 12, &summary), 0);
	assert_int_equal(summary.time, 9);
	assert_int_equal(summary.exit_signal, 0);
	assert_int_equal(summary.exit_code, 7);
	assert_int_equal(summary.thread_count, 2);
	assert_int_equal(summary.threads[1].tid, 2);
	assert_int_equal(summary.threads[1].steps, 5);
	assert_int_equal(summary.cache_hits, 10);
	assert_int_equal(summary.cache_misses, 11);
	assert_int_equal(summary.touched_pages, 12);
	assert_int_equal(summary.stored_pages, 13);
	summary_release(&summary);
}

static const struct row image_rows[] = {
	{ "a program", 0, 10, { 2, 2, 'l', 's', 0, 2, '/', 'l', 1, '/' } },
	{ "a program of empty texts", 0, 3, { 0, 0, 0 } },
	{ "a program's argument with a NUL", ERR_CORRUPT, 5,
	  { 1, 1, 0, 0, 0 } },
	{ "more arguments of a program than bytes", ERR_TRUNCATED, 3,
	  { 9, 0, 0 } },
	{ "a byte behind the program", ERR_CORRUPT, 4, { 0, 0, 0, 0 } },
};

static int decode_image(const struct row *row, size_t size,
			struct program_image *image)
{
	uint8_t *bytes = copy(row, size);
	int rc = program_image_decode(image, bytes, size);

	free(bytes);
	return rc;
}

static void image_row(void **state)
{
	const struct row *row = *state;
	struct program_image image = { 0 };
	struct output out = { 0 };

	assert_int_equal(decode_image(row, row->length, &image),
			 row->expected);
	if (row->expected) {
		assert_null(image.path);
		return;
	}
	assert_null(image.argv[image.argc]);
	program_image_encode(&out, &image);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	program_image_release(&image);
	output_release(&out);
	for (size_t n = 0; n < row->length; n++)
		assert_int_equal(decode_image(row, n, &image), ERR_TRUNCATED);
}

static void members_of_a_program(void **state)
{
	struct program_image image = { 0 };

	(void)state;
	assert_int_equal(decode_image(&image_rows[0], 10, &image), 0);
	assert_int_equal(image.argc, 2);
	assert_string_equal(image.argv[0], "ls");
	assert_string_equal(image.argv[1], "");
	assert_string_equal(image.path, "/l");
	assert_string_equal(image.directory, "/");
	program_image_release(&image);
	program_image_release(&image);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, meta_rows, meta_row);
	add_test(&list, "members of meta data", members_of_meta_data, NULL);
	add_rows(&list, summary_rows, summary_row);
	add_test(&list, "members of a summary", members_of_a_summary, NULL);
	add_rows(&list, image_rows, image_row);
	add_test(&list, "members of a program", members_of_a_program, NULL);
	return run_list("meta", &list);
}
