/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_numbers.c - numbers, times and addresses of the command line */
#include <string.h>

#include "tests/unit/table.h"
#include "replayer/session/numbers.h"

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
	{ "1.5k", true, 3 * K / 2 },
	{ "0.25m", true, K * K / 4 },
	{ "2.000000000k", true, 2 * K },
	{ "0.1k", false, 0 },		/* 102.4 */
	{ "1.5", false, 0 },
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
	{ "1k", true, 1000 },
	{ "2M", true, 2000000 },
	{ "3g", true, UINT64_C(3000000000) },
	{ "0x10k", true, 16000 },
	{ "1.5k", true, 1500 },
	{ "1.5m", true, 1500000 },
	{ "0.000000001g", true, 1 },
	{ "18446744073.709551615g", true, UINT64_MAX },
	{ "18446744073.709551616g", false, 0 },
	{ "18446744074.0g", false, 0 },
	{ "1.0005k", false, 0 },
	{ "1.0000000000m", false, 0 },
	{ "1.5", false, 0 },
	{ "1.k", false, 0 },
	{ ".5k", false, 0 },
	{ "1.5.5k", false, 0 },
	{ "0x1.5k", false, 0 },
	{ "k", false, 0 },
	{ "1kk", false, 0 },
	{ "50k%", false, 0 },
	{ "99999999999g", false, 0 },
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
	bool found = number_parse_time(row->name, 0, 1000, &value);

	check(row, found, value);
}

struct thread_row {
	const char *name;	/* the text */
	bool expected;
	uint32_t tid;
	const char *time;
};

static const struct thread_row thread_rows[] = {
	{ "12:500", true, 12, "500" },
	{ "0xc:50%", true, 12, "50%" },
	{ "12:end", true, 12, "end" },
	{ "12:", true, 12, "" },
	{ "1:2:3", true, 1, "2:3" },
	{ "4294967295:5", true, UINT32_MAX, "5" },
	{ "4294967296:5", false, 0, "4294967296:5" },
	{ ":5", false, 0, ":5" },
	{ "x:5", false, 0, "x:5" },
	{ "500", false, 0, "500" },
};

static void cut_thread(void **state)
{
	const struct thread_row *row = *state;
	uint32_t tid = 0;
	const char *time;

	assert_int_equal(number_cut_thread(row->name, &tid, &time),
			 row->expected);
	assert_true(tid == row->tid);
	assert_string_equal(time, row->time);
}

struct address_row {
	const char *name;	/* the text */
	const char *symbol;	/* NULL: a number */
	uint64_t number;
	bool is_minus;
	uint64_t offset;
};

static const struct address_row address_rows[] = {
	{ "0x1000", NULL, 4096, false, 0 },
	{ "4096+0x10", NULL, 4096, false, 16 },
	{ "0x1000-8", NULL, 4096, true, 8 },
	{ "counter", "counter", 0, false, 0 },
	{ "&counter", "counter", 0, false, 0 },
	{ "&counter+8", "counter", 0, false, 8 },
	{ "counter+8", "counter", 0, false, 8 },
	{ "counter+0x10", "counter", 0, false, 16 },
	{ "counter-8", "counter", 0, true, 8 },
	{ "libc.so.6!environ-8", "libc.so.6!environ", 0, true, 8 },
	{ "libstdc++.so.6!x", "libstdc++.so.6!x", 0, false, 0 },
	{ "libstdc++.so.6!x+4", "libstdc++.so.6!x", 0, false, 4 },
	{ "&libc.so.6!environ", "libc.so.6!environ", 0, false, 0 },
	{ "memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14", 0, false, 0 },
};

/* What is wrong, in a word or two of the message. */
struct wrong_row {
	const char *name;	/* the text */
	const char *says;
};

static const struct wrong_row wrong_rows[] = {
	{ "", "symbol is missing" },
	{ "&", "symbol is missing" },
	{ "+8", "symbol is missing" },
	{ "-8", "symbol is missing" },
	{ "&0x1000", "begins with a digit" },
	{ "&&counter", "the '&'" },
	{ "libc.so.6!&environ", "the '&'" },
	{ "0x", "begins with a digit" },
	{ "12g", "begins with a digit" },
	{ "0x10000000000000000", "begins with a digit" },
	{ "counter+", "missing behind the '+'" },
	{ "0x1000-", "missing behind the '-'" },
	{ "counter+x", "behind the '+' is no number" },
	{ "a-b", "behind the '-' is no number" },
	{ "counter+8+8", "behind the '+' is no number" },
	{ "a!!b", "more than one '!'" },
	{ "a!b!c", "more than one '!'" },
	{ "!counter", "before the '!'" },
	{ "libc.so.6!", "behind the '!'" },
	{ "libc.so.6!+8", "behind the '!'" },
};

static void take_address(void **state)
{
	const struct address_row *row = *state;
	struct address_text found;
	const char *wrong;

	assert_true(number_parse_address(row->name, &found, &wrong));
	assert_null(wrong);
	assert_int_equal(found.symbol_size,
			 row->symbol ? strlen(row->symbol) : 0);
	if (row->symbol)
		assert_memory_equal(found.symbol, row->symbol,
				    found.symbol_size);
	assert_true(found.number == row->number);
	assert_int_equal(found.is_minus, row->is_minus);
	assert_true(found.offset == row->offset);
}

static void refuse_address(void **state)
{
	const struct wrong_row *row = *state;
	struct address_text found = { .number = 77 };
	const char *wrong;

	assert_false(number_parse_address(row->name, &found, &wrong));
	assert_non_null(strstr(wrong, row->says));
	assert_int_equal(found.number, 77);
}

static void threads(void **state)
{
	struct threads_text found = { .tid = 77 };

	(void)state;
	assert_false(number_parse_threads("", &found));
	assert_false(number_parse_threads("every", &found));
	assert_false(number_parse_threads("-1", &found));
	assert_false(number_parse_threads("4294967296", &found));
	assert_true(found.tid == 77 && !found.some);
	assert_true(number_parse_threads("4294967295", &found));
	assert_true(found.some && !found.all && found.tid == UINT32_MAX);
	assert_true(number_parse_threads("all", &found));
	assert_true(found.some && found.all);
}

static void add_offset(void **state)
{
	struct address_text plus = { .offset = 16 };
	struct address_text minus = { .is_minus = true, .offset = 16 };
	uint64_t addr = 77;

	(void)state;
	assert_false(number_add_offset(&plus, UINT64_MAX - 15, &addr));
	assert_false(number_add_offset(&minus, 15, &addr));
	assert_true(addr == 77);
	assert_true(number_add_offset(&plus, UINT64_MAX - 16, &addr));
	assert_true(addr == UINT64_MAX);
	assert_true(number_add_offset(&minus, 16, &addr));
	assert_true(addr == 0);
}

static void share_of_the_longest_recording(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(number_parse_time("100%", 0, UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_true(number_parse_time("50%", 0, UINT64_MAX, &value));
	assert_true(value == UINT64_MAX / 2);
}

/* Of a recording from 1000 to 3000. */
static void times_of_a_later_start(void **state)
{
	static const struct number_row later[] = {
		{ "start", true, 1000 }, { "end", true, 3000 },
		{ "0%", true, 1000 }, { "50%", true, 2000 },
		{ "100%", true, 3000 }, { "999", true, 999 },
		{ "1.5k", true, 1500 },
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT(later); i++) {
		assert_true(number_parse_time(later[i].name, 1000, 3000,
					      &value));
		assert_true(value == later[i].value);
	}
}

static void positions(void **state)
{
	static const struct {
		const char *text;
		bool expected;
		struct position_number number;
	} rows[] = {
		{ "5000", true, { 5000, 0, false } },
		{ "5000.0", true, { 5000, 0, false } },
		{ "5000.12", true, { 5000, 12, false } },
		{ "1.5k", true, { 1500, 0, false } },
		{ "1.5k.2", true, { 1500, 2, false } },
		{ "12.5%", true, { 1250, 0, false } },
		{ "12.5%.1", true, { 1250, 1, false } },
		{ "start.1", true, { 1000, 1, false } },
		{ "end", true, { 3000, 0, true } },
		{ "end.0", true, { 3000, 0, false } },
		{ "7.4294967294", true, { 7, UINT32_MAX - 1, false } },
		{ "7.4294967295", false, { 0 } },
		{ "7.18446744073709551616", false, { 0 } },
		{ ".5", false, { 0 } }, { "5.", false, { 0 } },
		{ "5.x", false, { 0 } }, { "5.0x1", false, { 0 } },
		{ "5.-1", false, { 0 } }, { "1.5.2", false, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct position_number found = { 0 };

		assert_int_equal(number_parse_position(rows[i].text, 1000,
						       3000, &found),
				 rows[i].expected);
		if (!rows[i].expected)
			continue;
		assert_true(found.time == rows[i].number.time);
		assert_int_equal(found.events, rows[i].number.events);
		assert_int_equal(found.is_last, rows[i].number.is_last);
	}
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, number_rows, take_number);
	add_rows(&list, scaled_rows, take_scaled);
	add_rows(&list, time_rows, take_time);
	add_rows(&list, thread_rows, cut_thread);
	add_rows(&list, address_rows, take_address);
	add_rows(&list, wrong_rows, refuse_address);
	add_test(&list, "threads", threads, NULL);
	add_test(&list, "positions", positions, NULL);
	add_test(&list, "add offset", add_offset, NULL);
	add_test(&list, "times of a later start", times_of_a_later_start, NULL);
	add_test(&list, "share of the longest recording",
		 share_of_the_longest_recording, NULL);
	return run_list("numbers", &list);
}
