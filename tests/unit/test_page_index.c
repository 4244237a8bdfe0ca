/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_page_index.c - what the index of a segment says of a page */
#include "index/page_index.h"
#include "tests/unit/table.h"

static struct page_touch touches[] = {
	{ .page = 3, .how = PAGE_WAS_READ },
	{ .page = 5, .how = PAGE_WAS_WRITTEN, .write_time = 100 },
	{ .page = 5, .how = PAGE_WAS_RESOLVED, .doubt = 2, .resolved_id = 9 },
	{ .page = 5, .how = PAGE_WAS_RESOLVED | PAGE_WAS_WRITTEN, .doubt = 4,
	  .resolved_id = 10, .write_time = 50 },
	{ .page = 8, .how = PAGE_WAS_WRITTEN | PAGE_WAS_READ },
	{ .page = 9, .how = PAGE_WAS_RESOLVED, .doubt = 1 },
};

static const struct segment_index full = {
	.steps = 1000, .pages = touches, .page_count = COUNT(touches),
};

struct unchanged_row {
	const char *name;
	uint64_t page, time;
	bool expected;
};

static const struct unchanged_row unchanged_rows[] = {
	{ "before all pages", 1, 1000, true },
	{ "only read", 3, 1000, true },
	{ "between pages", 4, 1000, true },
	{ "before the write", 5, 49, true },
	{ "at the earlier write", 5, 50, false },
	{ "between the writes", 5, 99, false },
	{ "at the end", 5, 1000, false },
	{ "written at a time that is not known", 8, 0, false },
	{ "only resolved", 9, 1000, true },
	{ "behind all pages", 10, 1000, true },
};

static void unchanged_row(void **state)
{
	const struct unchanged_row *row = *state;

	assert_int_equal(page_index_is_unchanged(&full, row->page, row->time),
			 row->expected);
}

struct resolution_row {
	const char *name;
	uint64_t page, doubt;
	int expected;		/* index in `touches`, or -1 */
};

static const struct resolution_row resolution_rows[] = {
	{ "the first doubt", 5, 2, 2 },
	{ "the second doubt", 5, 4, 3 },
	{ "a doubt between them", 5, 3, -1 },
	{ "no doubt", 5, 0, -1 },
	{ "the last page", 9, 1, 5 },
	{ "the doubt of another page", 9, 2, -1 },
	{ "a page that is not there", 4, 2, -1 },
	{ "a page behind all", 10, 1, -1 },
};

static void resolution_row(void **state)
{
	const struct resolution_row *row = *state;
	const struct page_touch *expected =
		row->expected < 0 ? NULL : &touches[row->expected];

	assert_ptr_equal(page_index_resolution(&full, row->page, row->doubt),
			 expected);
}

static bool is_in_range(uint64_t first, uint64_t last, unsigned how)
{
	for (size_t i = 0; i < full.page_count; i++)
		if (touches[i].page >= first && touches[i].page <= last &&
		    touches[i].how & how)
			return true;
	return false;
}

static void ranges(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 14; first++)
		for (uint64_t last = first; last < 14; last++)
			assert_int_equal(page_index_may_touch(&full, first,
							      last),
					 is_in_range(first, last, ~0u));
	assert_true(page_index_may_touch(&full, 0, UINT64_MAX));
}

static void written_ranges(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 14; first++)
		for (uint64_t last = first; last < 14; last++)
			assert_int_equal(page_index_may_write(&full, first,
							      last),
					 is_in_range(first, last,
						     PAGE_WAS_WRITTEN));
}

/* Without an index nothing is certain. */
static void no_index(void **state)
{
	const struct segment_index none = { 0 };
	const struct segment_index empty = { .steps = 5 };

	(void)state;
	assert_false(page_index_is_unchanged(&none, 3, 0));
	assert_null(page_index_resolution(&none, 3, 1));
	assert_true(page_index_may_touch(&none, 3, 3));
	assert_false(page_index_may_touch(&empty, 0, UINT64_MAX));
	assert_true(page_index_may_write(&none, 3, 3));
	assert_false(page_index_may_write(&empty, 0, UINT64_MAX));
	assert_true(page_index_is_unchanged(&empty, 3, 5));
	assert_null(page_index_resolution(&empty, 3, 1));
}

/* Of one that has only writes, no read is known. */
static void only_writes(void **state)
{
	struct segment_index index = full;

	(void)state;
	index.only_writes = true;
	assert_true(page_index_is_touched(&index, 4));
	assert_true(page_index_may_touch(&index, 10, 10));
	assert_false(page_index_may_write(&index, 10, 10));
	assert_true(page_index_is_unchanged(&index, 4, 1000));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, unchanged_rows, unchanged_row);
	add_rows(&list, resolution_rows, resolution_row);
	add_test(&list, "ranges", ranges, NULL);
	add_test(&list, "written ranges", written_ranges, NULL);
	add_test(&list, "no index", no_index, NULL);
	add_test(&list, "only writes", only_writes, NULL);
	return run_list("page_index", &list);
}
