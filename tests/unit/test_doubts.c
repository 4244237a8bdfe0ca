/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_doubts.c - pages that somebody else may have changed */
#include "formats/error.h"
#include "tests/unit/memory_sample.h"

static void outputs_become_doubtful(void **state)
{
	uint64_t span;

	(void)state;
	start(&recording);
	map(0, 10, MAY_READ | MAY_WRITE);
	told[told_size = 0] = 0;
	/* Small: told at once. */
	assert_non_null(memory_at(memory, PAGE(0) + 8, PAGES(3), MEMORY_OUT,
				  &span));
	assert_true(span == PAGES(3));
	told[told_size = 0] = 0;
	memory_wrote(memory, PAGE(0) + 8, PAGES(3));
	assert_told("wrote 0x8+12288;");
	/* Large: whole pages are doubtful, the rest is told. */
	assert_non_null(memory_at(memory, PAGE(1) - 2, PAGES(6) + 5,
				  MEMORY_OUT, &span));
	told[told_size = 0] = 0;
	memory_wrote(memory, PAGE(1) - 2, PAGES(6) + 5);
	assert_told("wrote 0xffe+2;doubt 1-7 1;wrote 0x7000+3;");
	assert_int_equal(memory_page_doubt(memory, NUMBER(1)), 1);
	assert_int_equal(memory_page_doubt(memory, NUMBER(7)), 0);
	assert_false(memory_is_known(memory, NUMBER(2)));
	assert_null(memory_peek(memory, NUMBER(2)));
	assert_int_equal(get(2), 0);
	assert_told("resolve 2 1 00;");
	assert_int_equal(get(2), 0);
	assert_told("");
	assert_true(memory_is_known(memory, NUMBER(2)));
	assert_false(memory_is_known(memory, NUMBER(2000)));
	assert_non_null(memory_peek(memory, NUMBER(2)));
	/* What may not be written, or is not there. */
	assert_null(memory_at(memory, PAGE(10), 1, MEMORY_OUT, &span));
	assert_int_equal(memory_protect(memory, PAGE(9), PAGES(1), MAY_READ),
			 0);
	assert_null(memory_at(memory, PAGE(9), 1, MEMORY_OUT, &span));
	assert_non_null(memory_at(memory, PAGE(8) + 1, PAGES(2), MEMORY_OUT,
				  &span));
	assert_true(span == GUEST_PAGE - 1);
}

static void on_range(void *context, uint64_t page, uint64_t count,
		     uint64_t doubt)
{
	assert_ptr_equal(context, &told);
	tell("%d+%u %u;", page_of(page << GUEST_PAGE_SHIFT), (unsigned)count,
	     (unsigned)doubt);
}

static void doubt_ranges(void **state)
{
	(void)state;
	start(&replaying);
	map(0, 8, MAY_READ);
	map(10, 12, MAY_READ);
	assert_int_equal(memory_set_doubtful(memory, PAGE(1), PAGES(4), 3), 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(3), PAGES(1), 5), 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(11), PAGES(1), 4),
			 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(7), PAGES(4), 9),
			 ERR_NOT_FOUND);
	assert_int_equal(memory_doubt(memory), 5);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+2 3;3+1 5;4+1 3;11+1 4;");
	/* It moves along. */
	assert_int_equal(memory_move(memory, PAGE(2), PAGE(20), PAGES(2)), 0);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+1 3;4+1 3;11+1 4;20+1 3;21+1 5;");
	assert_int_equal(get(21), 0);
	assert_told("resolve 21 5 00;");
	assert_int_equal(memory_clear(memory, PAGE(20), PAGES(1)), 0);
	map(11, 12, MAY_READ);
	assert_int_equal(memory_unmap(memory, PAGE(4), PAGES(1)), 0);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+1 3;");
	memory_set_doubt(memory, 77);
	assert_int_equal(memory_doubt(memory), 77);
}

static void assert_kept(int page, int expected)
{
	uint8_t bytes[GUEST_PAGE];
	bool kept = memory_kept(memory, NUMBER(page), bytes);

	assert_int_equal(kept ? bytes[0] : -1, expected);
}

/* What was known of pages that others may have changed since. */
static void kept_pages(void **state)
{
	(void)state;
	start(&replaying);
	map(0, 6, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_set_doubtful(memory, PAGE(5), PAGES(1), 2), 0);
	memory_set_absent(memory);
	put(0, 9);
	told[told_size = 0] = 0;
	assert_kept(0, -1);		/* it is known */
	assert_int_equal(memory_doubt_kept(memory, PAGE(0), PAGES(6), 3), 0);
	assert_int_equal(memory_page_doubt(memory, NUMBER(0)), 3);
	assert_null(memory_peek(memory, NUMBER(0)));
	assert_kept(0, 9);
	assert_told("");
	/* What is absent is supplied, once; what was doubtful is not known. */
	assert_kept(1, (uint8_t)NUMBER(1));
	assert_told("supply 1;");
	assert_kept(1, (uint8_t)NUMBER(1));
	assert_kept(5, -1);
	assert_told("");
	assert_int_equal(memory_page_doubt(memory, NUMBER(1)), 3);
	/* Doubtful again, without having been known. */
	assert_int_equal(memory_doubt_kept(memory, PAGE(1), PAGES(1), 4), 0);
	assert_kept(1, -1);
	/* Touched, of which it need not be supplied any more. */
	load(2);
	assert_true(!strncmp(told, "resolve 2 3 ", 12));
	assert_null(strstr(told, "supply"));
	assert_kept(2, -1);
	put(2, 7);
	assert_int_equal(memory_doubt_kept(memory, PAGE(2), PAGES(1), 5), 0);
	assert_kept(2, 7);
	/* Mapped anew, or somewhere else. */
	assert_int_equal(memory_move(memory, PAGE(2), PAGE(10), PAGES(1)), 0);
	assert_kept(10, 7);
	assert_kept(2, -1);
	map(10, 11, MAY_READ);
	assert_kept(10, -1);
	assert_int_equal(memory_set_doubtful(memory, PAGE(0), PAGES(1), 6), 0);
	assert_kept(0, -1);
}

static void read_into(int first, int count)
{
	uint64_t span;

	assert_non_null(memory_at(memory, PAGE(first), PAGES(count),
				  MEMORY_OUT, &span));
	memory_wrote(memory, PAGE(first), PAGES(count));
	told[told_size = 0] = 0;
}

/*
 * A buffer that was used in the segment before and is read into again: touching
 * it anywhere resolves what the same event made doubtful.
 */
static void resolved_together(void **state)
{
	(void)state;
	start(&recording);
	map(0, 20, MAY_READ | MAY_WRITE);
	for (int page = 1; page < 18; page++)
		load(page);
	memory_arm(memory);
	read_into(12, 6);
	read_into(0, 12);
	load(14);
	assert_told("resolve 12 1 00;resolve 13 1 00;resolve 14 1 00;"
		    "resolve 15 1 00;resolve 16 1 00;resolve 17 1 00;");
	told[told_size = 0] = 0;
	load(17);
	assert_told("");
	/* The next read makes them doubtful again. */
	read_into(12, 4);
	put(13, 1);
	assert_told("resolve 12 3 00;resolve 13 3 00;resolve 14 3 00;"
		    "resolve 15 3 00;wrote 0xd000+1;");
	assert_int_equal(get(13), 1);
	/* One that was not used before is alone. */
	told[told_size = 0] = 0;
	load(0);
	assert_told("resolve 0 2 00;");
	assert_false(memory_is_known(memory, NUMBER(1)));
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "outputs become doubtful", outputs_become_doubtful,
		 NULL);
	add_test(&list, "ranges of doubt", doubt_ranges, NULL);
	add_test(&list, "resolved together", resolved_together, NULL);
	add_test(&list, "kept pages", kept_pages, NULL);
	return run_with_end("doubts", &list);
}
