/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_numbers.c - numbers and addresses of the command line */
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

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, number_rows, take_number);
	add_rows(&list, scaled_rows, take_scaled);
	add_rows(&list, address_rows, take_address);
	add_rows(&list, wrong_rows, refuse_address);
	add_test(&list, "threads", threads, NULL);
	add_test(&list, "add offset", add_offset, NULL);
	return run_list("numbers", &list);
}
