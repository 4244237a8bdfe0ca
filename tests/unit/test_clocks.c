/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_clocks.c - times of day of the command line */
#include <stdlib.h>
#include <time.h>

#include "replayer/session/clocks.h"
#include "tests/unit/table.h"

#define SECOND INT64_C(1000000)

/* Since 2026-11-23 12:00:00.7 UTC, in a zone that is two hours ahead. */
#define FIRST (INT64_C(1795435200) * SECOND + 700000)

struct clock_row {
	const char *name;	/* the text */
	int64_t later;		/* than FIRST */
};

static const struct clock_row clock_rows[] = {
	{ "14:00:01.7", SECOND },
	{ "14:00:01.700000", SECOND },
	{ "14:00:01.7000009", SECOND },
	{ "14:00:00.7", 0 },
	/* the second and the minute in which it begins, not what is before */
	{ "14:00:00", 0 },
	{ "14:00", 0 },
	{ "12:00Z", 0 },
	{ "2026-11-23 14:00", 0 },
	{ "14:01", 59300000 },
	{ "14:00:00.6", 86400 * SECOND - 100000 },
	{ "14:00:00.69", 86400 * SECOND - 10000 },
	{ "14:00:00.699999", 86400 * SECOND - 1 },
	{ "13:59:59.8", 86400 * SECOND - 900000 },
	{ "13:59:59", 86400 * SECOND - 1700000 },
	{ "13:59", 86400 * SECOND - 60700000 },
	{ "2026-11-23 14:00:00.5", -200000 },
	{ "00:00:00.7", 10 * 3600 * SECOND },
	{ "12:00:01.7Z", SECOND },
	{ "2026-11-23 14:00:02.7", 2 * SECOND },
	{ "2026-11-23T12:00:02.7Z", 2 * SECOND },
	{ "2026-11-24 14:00:00.7", 86400 * SECOND },
	{ "2026-11-22 14:00:00.7", -86400 * SECOND },
};

static void find(void **state)
{
	const struct clock_row *row = *state;
	struct clock_text clock;

	assert_true(clock_text_parse(row->name, &clock));
	assert_true(clock_text_find(&clock, FIRST) == FIRST + row->later);
}

struct wrong_row {
	const char *name;
};

static const struct wrong_row wrong_rows[] = {
	{ "" }, { "12" }, { "12:4" }, { "12:04:" }, { "12:04.5" },
	{ "1:02:03" }, { "24:00:00" }, { "12:60:00" },
	{ "12:00:61" }, { "12:00:00." }, { "12:00:00.x" }, { "12:00:00 " },
	{ "12:00:00z" }, { "12:00:00+1" }, { "2026-13-01 12:00:00" },
	{ "2026-00-01 12:00:00" }, { "2026-01-32 12:00:00" },
	{ "2026-1-1 12:00:00" }, { "2026-01-01" }, { "2026-01-01_12:00:00" },
};

static void refuse(void **state)
{
	const struct wrong_row *row = *state;
	struct clock_text clock;

	assert_false(clock_text_parse(row->name, &clock));
}

static void print(void **state)
{
	char text[CLOCK_TEXT];

	(void)state;
	assert_string_equal(clock_print(text, FIRST),
			    "2026-11-23 14:00:00.700000");
}

int main(void)
{
	struct test_list list = { 0 };

	setenv("TZ", "XXX-2", 1);
	tzset();
	add_rows(&list, clock_rows, find);
	add_rows(&list, wrong_rows, refuse);
	add_test(&list, "print", print, NULL);
	return run_list("clocks", &list);
}
