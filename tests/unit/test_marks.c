/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_marks.c - marked ranges, compared with an array of flags */
#include <string.h>

#include "tests/unit/table.h"
#include "vm/linux/memory/memory.h"

enum { PLACES = 64, ROUNDS = 20000 };

static uint64_t count(const uint8_t *flags, unsigned from, unsigned to)
{
	uint64_t found = 0;

	for (unsigned i = from; i < to; i++)
		found += flags[i];
	return found;
}

/* In order; none empty; none reaches into the next. */
static void assert_in_order(const struct marks *marks)
{
	for (size_t i = 0; i < marks->count; i++) {
		assert_true(marks->list[i].start < marks->list[i].end);
		if (i)
			assert_true(marks->list[i - 1].end <=
				    marks->list[i].start);
	}
}

static void same_as_an_array(void **state)
{
	uint8_t flags[PLACES] = { 0 };
	struct marks marks = { 0 };
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned a, b, from, to;

		random = random * UINT64_C(6364136223846793005) + 1;
		a = random >> 33 & (PLACES - 1);
		b = random >> 43 & (PLACES - 1);
		from = a < b ? a : b;
		to = a < b ? b : a;
		if (random >> 60 & 1)
			assert_true(marks_set(&marks, from, to));
		else
			marks_clear(&marks, from, to);
		memset(flags + from, random >> 60 & 1, to - from);
		assert_in_order(&marks);
		assert_int_equal(marks_size(&marks, 0, UINT64_MAX),
				 count(flags, 0, PLACES));
		assert_int_equal(marks_size(&marks, from / 2, to),
				 count(flags, from / 2, to));
	}
	marks_drop(&marks);
	assert_int_equal(marks_size(&marks, 0, UINT64_MAX), 0);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "the same as an array", same_as_an_array, NULL);
	return run_list("marks", &list);
}
