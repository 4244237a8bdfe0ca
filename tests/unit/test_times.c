/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_times.c - times of the command line */
#include <string.h>

#include "replayer/session/times.h"
#include "tests/unit/table.h"

struct time_row {
	const char *name;	/* the text */
	struct time_text time;
};

#define NUMBER(value) { .base = TIME_NUMBER, .number = (value) }
#define PERCENT(whole_, part_, parts_)                                       \
	{ .base = TIME_SHARE, .share = { whole_, part_, parts_ } }

static const struct time_row good_rows[] = {
	{ "999", NUMBER(999) },
	{ "0x10", NUMBER(16) },
	{ "1k", NUMBER(1000) },
	{ "2M", NUMBER(2000000) },
	{ "3g", NUMBER(UINT64_C(3000000000)) },
	{ "0x10k", NUMBER(16000) },
	{ "1.5k", NUMBER(1500) },
	{ "1.5m", NUMBER(1500000) },
	{ "0.000000001g", NUMBER(1) },
	{ "18446744073.709551615g", NUMBER(UINT64_MAX) },
	{ "start", { .base = TIME_START } },
	{ "end", { .base = TIME_END, .is_last = true } },
	{ "0%", PERCENT(0, 0, 1) },
	{ "50%", PERCENT(50, 0, 1) },
	{ "12.5%", PERCENT(12, 5, 10) },
	{ "100.0%", PERCENT(100, 0, 10) },
	{ "output:3", { .base = TIME_OUTPUT, .number = 3 } },
	{ "output:2k", { .base = TIME_OUTPUT, .number = 2000 } },
	/* events */
	{ "5000.0", NUMBER(5000) },
	{ "5000.12", { .number = 5000, .events = 12 } },
	{ "1.5k.2", { .number = 1500, .events = 2 } },
	{ "12.5%.1", { .base = TIME_SHARE, .share = { 12, 5, 10 },
		       .events = 1 } },
	{ "start.1", { .base = TIME_START, .events = 1 } },
	{ "end.0", { .base = TIME_END } },
	{ "7.4294967294", { .number = 7, .events = UINT32_MAX - 1 } },
	{ "output:3.1", { .base = TIME_OUTPUT, .number = 3, .events = 1 } },
	/* more and fewer */
	{ "end-1", { .base = TIME_END, .is_minus = true, .offset = 1 } },
	{ "50%+3", { .base = TIME_SHARE, .share = { 50, 0, 1 },
		     .offset = 3 } },
	{ "5000+100", { .number = 5000, .offset = 100 } },
	{ "5000-0x10", { .number = 5000, .is_minus = true, .offset = 16 } },
	{ "end-1.5m", { .base = TIME_END, .is_minus = true,
			.offset = 1500000 } },
	{ "end-1.5", { .base = TIME_END, .is_minus = true, .offset = 1,
		       .events = 5 } },
	{ "output:3+2k.1", { .base = TIME_OUTPUT, .number = 3, .offset = 2000,
			     .events = 1 } },
	/* bookmarks, if they have these names */
	{ "middle", { .base = TIME_BOOKMARK } },
	{ "k", { .base = TIME_BOOKMARK } },
	{ "ends", { .base = TIME_BOOKMARK } },
	{ "_end1-5", { .base = TIME_BOOKMARK, .is_minus = true,
		       .offset = 5 } },
	{ "T+5k", { .base = TIME_BOOKMARK, .offset = 5000 } },
	/* of a thread */
	{ "12:500", { .has_thread = true, .tid = 12, .number = 500 } },
	{ "0xc:500.2", { .has_thread = true, .tid = 12, .number = 500,
			 .events = 2 } },
	{ "12:end", { .has_thread = true, .tid = 12, .base = TIME_END } },
	{ "12:end-5", { .has_thread = true, .tid = 12, .base = TIME_END,
			.is_minus = true, .offset = 5 } },
	{ "4294967295:50%", { .has_thread = true, .tid = UINT32_MAX,
			      .base = TIME_SHARE, .share = { 50, 0, 1 } } },
};

/* Without seconds, it may be a thread's. */
static const struct time_row clock_rows[] = {
	{ "14:52", { .has_thread = true, .tid = 14, .number = 52,
		     .may_be_clock = true } },
	{ "14:60", { .has_thread = true, .tid = 14, .number = 60 } },
	{ "14:52.1", { .has_thread = true, .tid = 14, .number = 52,
		       .events = 1 } },
	{ "14:52Z", { .base = TIME_CLOCK } },
	{ "14:52:15", { .base = TIME_CLOCK } },
	{ "2026-11-23 14:52", { .base = TIME_CLOCK } },
};

static void take(void **state)
{
	const struct time_row *row = *state;
	struct time_text found;

	memset(&found, 0x55, sizeof(found));
	assert_true(time_text_parse(row->name, &found));
	assert_int_equal(found.has_thread, row->time.has_thread);
	assert_int_equal(found.tid, row->time.tid);
	assert_int_equal(found.base, row->time.base);
	assert_true(found.number == row->time.number);
	assert_true(found.share.whole == row->time.share.whole);
	assert_true(found.share.part == row->time.share.part);
	assert_true(found.share.parts == row->time.share.parts);
	assert_int_equal(found.is_minus, row->time.is_minus);
	assert_true(found.offset == row->time.offset);
	assert_int_equal(found.events, row->time.events);
	assert_int_equal(found.is_last, row->time.is_last);
	assert_int_equal(found.may_be_clock, row->time.may_be_clock);
}

struct wrong_row {
	const char *name;
};

static const struct wrong_row wrong_rows[] = {
	{ "" }, { "1kk" }, { "50k%" }, { "1.k" },
	{ ".5k" }, { "1.5.5k" }, { "0x1.5k" }, { "1.0005k" },
	{ "1.0000000000m" }, { "18446744073.709551616g" },
	{ "18446744074.0g" }, { "99999999999g" },
	{ "100.1%" }, { "101%" }, { "%" }, { ".5%" }, { "5.%" }, { "0x10%" },
	{ "0.0000000001%" },
	{ "7.4294967295" }, { "7.18446744073709551616" }, { ".5" }, { "5." },
	{ "5.x" }, { "5.0x1" }, { "1.5.2" },
	{ "+5" }, { "-5" }, { "5+" }, { "5-" }, { "5+-1" }, { "5+1+1" },
	{ "end+x" }, { "end-50%" }, { "end-end" }, { "5.-1" }, { "5.1+1" },
	{ "main" }, { "a.1" }, { "12:a" }, { "a-b" }, { "a b" }, { " 5" }, { "5 " },
	{ "output:" }, { "output:0" }, { "output:x" }, { "output" },
	{ "output:-1" }, { "12:output:3" },
	{ ":5" }, { "x:5" }, { "12:" }, { "1:2:3" }, { "4294967296:5" },
	{ "0000000000000000000000000000000000000000000000000000000000000000"
	  "00000000000000000000000000000000" },
};

/* What is no time leaves the result alone. */
static void refuse(void **state)
{
	const struct wrong_row *row = *state;
	struct time_text found, before;

	memset(&before, 0x55, sizeof(before));
	memcpy(&found, &before, sizeof(found));
	assert_false(time_text_parse(row->name, &found));
	assert_memory_equal(&found, &before, sizeof(found));
}

static void shares(void **state)
{
	static const struct decimal all = { 100, 0, 1 }, half = { 50, 0, 1 },
		eighth = { 12, 5, 10 }, third = { 33, 3, 10 };

	(void)state;
	assert_true(time_text_share(&all, UINT64_MAX) == UINT64_MAX);
	assert_true(time_text_share(&half, UINT64_MAX) == UINT64_MAX / 2);
	assert_true(time_text_share(&eighth, 1000) == 125);
	assert_true(time_text_share(&third, 1000) == 333);
	assert_true(time_text_share(&all, 0) == 0);
}

static void tenths(void **state)
{
	(void)state;
	assert_int_equal(time_tenths(0, 0), 1000);
	assert_int_equal(time_tenths(0, 7), 0);
	assert_int_equal(time_tenths(7, 7), 1000);
	assert_int_equal(time_tenths(UINT64_MAX - 1, UINT64_MAX), 999);
	assert_int_equal(time_tenths(UINT64_MAX / 2, UINT64_MAX), 500);
	assert_int_equal(time_tenths(1, 3), 333);
	assert_int_equal(time_tenths(2, 3), 667);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, good_rows, take);
	add_rows(&list, clock_rows, take);
	add_rows(&list, wrong_rows, refuse);
	add_test(&list, "shares", shares, NULL);
	add_test(&list, "tenths", tenths, NULL);
	return run_list("times", &list);
}
