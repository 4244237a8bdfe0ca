/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bytes.c - varints, integers and texts, from and to bytes */
#include <string.h>

#include "formats/bytes.h"
#include "formats/error.h"
#include "tests/unit/table.h"

struct varint_row {
	const char *name;
	int expected;		/* error */
	uint64_t value;
	size_t length;
	uint8_t bytes[12];
};

static const struct varint_row varint_rows[] = {
	{ "varint 0", 0, 0, 1, { 0 } },
	{ "varint 127", 0, 127, 1, { 0x7f } },
	{ "varint 128", 0, 128, 2, { 0x80, 1 } },
	{ "varint 300", 0, 300, 2, { 0xac, 2 } },
	{ "varint 2^56", 0, UINT64_C(1) << 56, 9,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 } },
	{ "varint 2^64 - 1", 0, UINT64_MAX, 10,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
	{ "varint of nothing", ERR_TRUNCATED, 0, 0, { 0 } },
	{ "varint that goes on", ERR_TRUNCATED, 0, 1, { 0x80 } },
	{ "varint of nine bytes that goes on", ERR_TRUNCATED, 0, 9,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80 } },
	{ "varint 0 in two bytes", ERR_CORRUPT, 0, 2, { 0x80, 0 } },
	{ "varint 1 in three bytes", ERR_CORRUPT, 0, 3, { 0x81, 0x80, 0 } },
	{ "varint 2^64", ERR_CORRUPT, 0, 10,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2 } },
	{ "varint of eleven bytes", ERR_CORRUPT, 0, 11,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 1 } },
};

static void take_varint(void **state)
{
	const struct varint_row *row = *state;
	struct input in = { row->bytes, row->bytes + row->length, 0 };
	struct output out = { 0 };

	assert_true(input_varint(&in) == row->value);
	assert_int_equal(in.error, row->expected);
	if (row->expected)
		return;
	assert_int_equal(input_left(&in), 0);
	output_varint(&out, row->value);
	assert_int_equal(out.error, 0);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	output_release(&out);
}

struct signed_row {
	const char *name;
	int64_t value;
	size_t length;
	uint8_t bytes[12];
};

static const struct signed_row signed_rows[] = {
	{ "signed 0", 0, 1, { 0 } },
	{ "signed -1", -1, 1, { 1 } },
	{ "signed 1", 1, 1, { 2 } },
	{ "signed -64", -64, 1, { 0x7f } },
	{ "signed 64", 64, 2, { 0x80, 1 } },
	{ "signed 2^63 - 1", INT64_MAX, 10,
	  { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
	{ "signed -2^63", INT64_MIN, 10,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
};

static void take_signed(void **state)
{
	const struct signed_row *row = *state;
	struct input in = { row->bytes, row->bytes + row->length, 0 };
	struct output out = { 0 };

	assert_true(input_signed(&in) == row->value);
	assert_int_equal(in.error, 0);
	output_signed(&out, row->value);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	output_release(&out);
}

static void take_uint_of_each_width(void **state)
{
	static const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	for (unsigned width = 1; width <= 8; width++) {
		struct input in = { bytes, bytes + width, 0 };
		struct output out = { 0 };
		uint64_t expected = UINT64_C(0x0807060504030201);

		if (width < 8)
			expected &= (UINT64_C(1) << 8 * width) - 1;
		assert_true(input_uint(&in, width) == expected);
		assert_int_equal(in.error, 0);
		assert_int_equal(input_uint(&in, 1), 0);
		assert_int_equal(in.error, ERR_TRUNCATED);
		output_uint(&out, expected, width);
		assert_int_equal(out.size, width);
		assert_memory_equal(out.bytes, bytes, width);
		output_release(&out);
	}
}

static void first_error_stays(void **state)
{
	static const uint8_t bytes[] = { 0x80, 0, 1, 2, 3 };
	struct input in = { bytes, bytes + sizeof(bytes), 0 };
	const uint8_t *at;
	size_t size = 1;

	(void)state;
	assert_int_equal(input_varint(&in), 0);
	assert_int_equal(in.error, ERR_CORRUPT);
	at = in.at;
	assert_null(input_bytes(&in, 1));
	assert_int_equal(input_uint(&in, 8), 0);
	assert_int_equal(input_count(&in, 9), 0);
	assert_null(input_text(&in, 9, &size));
	assert_int_equal(size, 0);
	assert_int_equal(in.error, ERR_CORRUPT);
	assert_ptr_equal(in.at, at);
}

static void size_that_would_wrap(void **state)
{
	static const uint8_t bytes[4];
	struct input in = { bytes, bytes + sizeof(bytes), 0 };

	(void)state;
	assert_null(input_bytes(&in, UINT64_MAX));
	assert_int_equal(in.error, ERR_TRUNCATED);
	assert_ptr_equal(in.at, bytes);
}

static void input_of_nothing(void **state)
{
	struct input in = { NULL, NULL, 0 };

	(void)state;
	assert_int_equal(input_left(&in), 0);
	input_bytes(&in, 0);
	assert_int_equal(in.error, 0);
	input_uint(&in, 1);
	assert_int_equal(in.error, ERR_TRUNCATED);
}

static void count_above_the_most(void **state)
{
	static const uint8_t bytes[] = { 5, 5 };
	struct input in = { bytes, bytes + sizeof(bytes), 0 };

	(void)state;
	assert_int_equal(input_count(&in, 5), 5);
	assert_int_equal(in.error, 0);
	assert_int_equal(input_count(&in, 4), 0);
	assert_int_equal(in.error, ERR_CORRUPT);
}

struct text_row {
	const char *name;
	int expected;
	size_t length;
	uint8_t bytes[8];
};

static const struct text_row text_rows[] = {
	{ "text", 0, 4, { 3, 'a', 'b', 'c' } },
	{ "text without bytes", 0, 1, { 0 } },
	{ "text above the most", ERR_CORRUPT, 6, { 5, 'a', 'b', 'c', 'd', 'e' } },
	{ "text with a NUL", ERR_CORRUPT, 4, { 3, 'a', 0, 'c' } },
	{ "text with a NUL at its end", ERR_CORRUPT, 4, { 3, 'a', 'b', 0 } },
	{ "text that is cut", ERR_TRUNCATED, 3, { 3, 'a', 'b' } },
};

static void take_text(void **state)
{
	const struct text_row *row = *state;
	struct input in = { row->bytes, row->bytes + row->length, 0 };
	struct output out = { 0 };
	size_t size;
	const char *text = input_text(&in, 4, &size);

	assert_int_equal(in.error, row->expected);
	if (row->expected) {
		assert_null(text);
		return;
	}
	assert_int_equal(size, row->length - 1);
	assert_memory_equal(text, row->bytes + 1, size);
	output_text(&out, text, size);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	output_release(&out);
}

static void output_grows(void **state)
{
	struct output out = { 0 };
	size_t capacity;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		output_uint(&out, i & 0xff, 1);
	assert_int_equal(out.error, 0);
	assert_int_equal(out.size, 100000);
	for (size_t i = 0; i < out.size; i++)
		assert_int_equal(out.bytes[i], i & 0xff);
	capacity = out.capacity;
	output_clear(&out);
	assert_int_equal(out.size, 0);
	assert_int_equal(out.capacity, capacity);
	output_release(&out);
	assert_null(out.bytes);
}

static void output_without_memory(void **state)
{
	struct output out = { 0 };

	(void)state;
	output_uint(&out, 1, 1);
	assert_null(output_space(&out, SIZE_MAX / 2 + 2));
	assert_int_equal(out.error, ERR_NO_MEMORY);
	output_uint(&out, 2, 1);
	assert_int_equal(out.size, 1);
	assert_int_equal(out.error, ERR_NO_MEMORY);
	output_clear(&out);
	output_uint(&out, 2, 1);
	assert_int_equal(out.error, 0);
	output_release(&out);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, varint_rows, take_varint);
	add_rows(&list, signed_rows, take_signed);
	add_rows(&list, text_rows, take_text);
	add_test(&list, "integers of each width", take_uint_of_each_width,
		 NULL);
	add_test(&list, "the first error stays", first_error_stays, NULL);
	add_test(&list, "a size that would wrap", size_that_would_wrap, NULL);
	add_test(&list, "an input of nothing", input_of_nothing, NULL);
	add_test(&list, "a count above the most", count_above_the_most, NULL);
	add_test(&list, "an output grows", output_grows, NULL);
	add_test(&list, "an output without memory", output_without_memory,
		 NULL);
	return run_list("bytes", &list);
}
