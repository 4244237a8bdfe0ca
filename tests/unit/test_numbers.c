/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_numbers.c - numbers, times and offsets of the command line */
#include <string.h>

#include "tests/unit/table.h"
#include "tools/numbers.h"

#define K 1024

struct number_row {
	const char *name;	/* the text */
	bool expected;
	uint64_t value;
};

static const struct number_row number_rows[] = {
	{ "0", true, 0 },
	{ "4096", true, 4096 },
	{ "0x1000", true, 4096 },
	{ "0XfF", true, 255 },
	{ "007", true, 7 },
	{ "18446744073709551615", true, UINT64_MAX },
	{ "0xffffffffffffffff", true, UINT64_MAX },
	{ "18446744073709551616", false, 0 },
	{ "0x10000000000000000", false, 0 },
	{ "", false, 0 },
	{ "0x", false, 0 },
	{ "-1", false, 0 },
	{ "+1", false, 0 },
	{ " 1", false, 0 },
	{ "1 ", false, 0 },
	{ "1k", false, 0 },
	{ "ff", false, 0 },
	{ "1.5", false, 0 },
};

static const struct number_row scaled_rows[] = {
	{ "12", true, 12 },
	{ "16k", true, 16 * K },
	{ "16K", true, 16 * K },
	{ "2m", true, 2 * K * K },
	{ "3G", true, UINT64_C(3) * K * K * K },
	{ "0x10k", true, 16 * K },
	{ "17179869184g", false, 0 },
	{ "k", false, 0 },
	{ "1kk", false, 0 },
	{ "1t", false, 0 },
};

/* Of a recording that ends at 1000. */
static const struct number_row time_rows[] = {
	{ "start", true, 0 },
	{ "end", true, 1000 },
	{ "999", true, 999 },
	{ "0x10", true, 16 },
	{ "1001", true, 1001 },
	{ "0%", true, 0 },
	{ "50%", true, 500 },
	{ "100%", true, 1000 },
	{ "12.5%", true, 125 },
	{ "33.3%", true, 333 },
	{ "100.0%", true, 1000 },
	{ "100.1%", false, 0 },
	{ "101%", false, 0 },
	{ "%", false, 0 },
	{ ".5%", false, 0 },
	{ "5.%", false, 0 },
	{ "0x10%", false, 0 },
	{ "0.0000000001%", false, 0 },
	{ "middle", false, 0 },
	{ "", false, 0 },
};

static void check(const struct number_row *row, bool found, uint64_t value)
{
	assert_int_equal(found, row->expected);
	/* What is no number leaves the result alone. */
	assert_true(value == (row->expected ? row->value : 77));
}

static void take_number(void **state)
{
	const struct number_row *row = *state;
	uint64_t value = 77;
	bool found = number_parse(row->name, &value);

	check(row, found, value);
}

static void take_scaled(void **state)
{
	const struct number_row *row = *state;
	uint64_t value = 77;
	bool found = number_parse_scaled(row->name, K, &value);

	check(row, found, value);
}

static void take_time(void **state)
{
	const struct number_row *row = *state;
	uint64_t value = 77;
	bool found = number_parse_time(row->name, 1000, &value);

	check(row, found, value);
}

struct offset_row {
	const char *name;	/* the text */
	size_t plus;
	uint64_t offset;
};

static const struct offset_row offset_rows[] = {
	{ "counter", 7, 0 },
	{ "counter+8", 7, 8 },
	{ "counter+0x10", 7, 16 },
	{ "operator++", 10, 0 },
	{ "operator+++4", 10, 4 },
	{ "a+b", 3, 0 },
	{ "+8", 2, 0 },
};

static void cut_offset(void **state)
{
	const struct offset_row *row = *state;
	const char *plus;
	uint64_t offset;

	assert_true(number_parse_offset(row->name, &plus, &offset));
	assert_int_equal(plus - row->name, row->plus);
	assert_int_equal(offset, row->offset);
}

static void share_of_the_longest_recording(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(number_parse_time("100%", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_true(number_parse_time("50%", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX / 2);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, number_rows, take_number);
	add_rows(&list, scaled_rows, take_scaled);
	add_rows(&list, time_rows, take_time);
	add_rows(&list, offset_rows, cut_offset);
	add_test(&list, "share of the longest recording",
		 share_of_the_longest_recording, NULL);
	return run_list("numbers", &list);
}
