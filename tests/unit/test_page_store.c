/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_page_store.c - each content once; which page has which */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/region.h"
#include "recorder/page_store.h"
#include "tests/unit/table.h"

static struct page_store store;
static uint8_t page[GUEST_PAGE];

static int start(void **state)
{
	(void)state;
	memset(page, 0, sizeof(page));
	return page_store_init(&store);
}

static int end(void **state)
{
	(void)state;
	page_store_release(&store);
	return 0;
}

static const uint8_t *content(unsigned number)
{
	memcpy(page + 2000, &number, sizeof(number));
	return page;
}

static uint64_t add(unsigned number)
{
	uint64_t id;

	assert_int_equal(page_store_add(&store, 5, content(number), &id), 0);
	return id;
}

/* What the recorder does with a full batch. */
static void take_batch(void)
{
	page_batch_end(&store.batch);
	output_clear(&store.batch.pages);
}

static void each_content_once(void **state)
{
	uint64_t id;

	(void)state;
	assert_int_equal(add(7), 1);
	assert_int_equal(add(8), 2);
	assert_int_equal(add(7), 1);
	assert_int_equal(store.batch.count, 2);
	assert_true(page_store_has(&store, content(8), &id));
	assert_int_equal(id, 2);
	assert_false(page_store_has(&store, content(9), &id));
	assert_int_equal(id, 0);
	assert_memory_equal(store.batch.pages.bytes, content(7), GUEST_PAGE);
}

static void zeros_are_never_stored(void **state)
{
	uint64_t id = 5;

	(void)state;
	assert_int_equal(page_store_add(&store, 5, page, &id), 0);
	assert_int_equal(id, 0);
	id = 5;
	assert_true(page_store_has(&store, page, &id));
	assert_int_equal(id, 0);
	assert_int_equal(store.batch.count, 0);
	/* One byte is enough, wherever it is. */
	for (unsigned at = 0; at < GUEST_PAGE; at += 819) {
		memset(page, 0, sizeof(page));
		page[at] = 1;
		assert_int_equal(page_store_add(&store, 5, page, &id), 0);
		assert_int_equal(id, at / 819 + 1);
	}
}

/* What a caller takes out of the batch goes on where it was. */
static void batches_go_on(void **state)
{
	(void)state;
	add(1);
	add(2);
	assert_int_equal(store.batch_first, 1);
	take_batch();
	assert_int_equal(add(1), 1);
	assert_int_equal(store.batch.count, 0);
	assert_int_equal(add(3), 3);
	assert_int_equal(add(4), 4);
	assert_int_equal(store.batch_first, 3);
	assert_int_equal(store.batch.count, 2);
}

/* ------- patches ------- */

/* How far before the newest content its base is; 0: it was put in whole. */
static uint64_t newest_distance(void)
{
	return store.batch.distances[store.batch.count - 1];
}

/* Stores the next content of a page, as a snapshot does: whether whole. */
static bool snapshot(uint64_t number, unsigned changed)
{
	uint64_t next = store.next_id, id;
	bool whole;

	for (unsigned i = 0; i < changed; i++)
		page[(i * 2 + 1) % PAGE_WORDS * 8]++;
	assert_int_equal(page_store_add(&store, number, page, &id), 0);
	assert_int_equal(page_store_set_current(&store, number, id), 0);
	whole = store.next_id != next && newest_distance() == 0;
	if (page_batch_is_full(&store.batch))
		take_batch();
	return whole;
}

/* Whole when it is new, and when it comes again; then patches, not too many. */
static void patches(void **state)
{
	(void)state;
	assert_int_equal(snapshot(8, 3), 1);
	assert_int_equal(snapshot(8, 3), 1);
	assert_int_equal(store.batch.count, 2);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < PATCHES_MOST; i++) {
			assert_int_equal(snapshot(8, 1 + i), 0);
			assert_int_equal(store.batch.distances
				[store.batch.count - 1], 1);
		}
		assert_int_equal(snapshot(8, 3), 1);
	}
	/*
	 * Another page with the same past has no base, nor has a large change.
	 */
	assert_int_equal(snapshot(9, 1), 1);
	assert_int_equal(snapshot(8, 256), 1);
	assert_int_equal(snapshot(8, 1), 0);
	/* A content that is stored is not stored again. */
	assert_int_equal(snapshot(8, 0), 0);
	assert_int_equal(store.next_id, 1 + 2 + 3 * (PATCHES_MOST + 1) + 3);
}

/* Changes pages 0 and 1 in turn after turn, until their group begins anew. */
static void change_until_begun(void)
{
	unsigned turns = 0;

	do {
		assert_true(++turns < 100);
		bases_next_turn(&store.bases);
		take_batch();
		snapshot(0, 1);
		snapshot(1, 1);
		assert_int_equal(page_store_begin(&store, 64), 0);
	} while (!page_store_begins(&store, 0));
}

/* Page 3 never changes again, page 2 does once; page 64 is of another group. */
static void groups_begin_anew(void **state)
{
	uint64_t id;

	(void)state;
	for (unsigned turn = 0; turn < 2; turn++) {
		bases_next_turn(&store.bases);
		for (unsigned number = 0; number < 4; number++)
			assert_true(snapshot(number, 3));
		assert_true(snapshot(64, 3));
	}
	bases_next_turn(&store.bases);
	assert_false(snapshot(2, 1));
	change_until_begun();
	/* These two have changed; the others are put in as they were. */
	assert_int_equal(store.batch.count, 2);
	assert_int_equal(store.batch.distances[0], 0);
	assert_int_equal(store.batch.distances[1], 0);
	for (unsigned number = 2; number < 4; number++) {
		id = page_store_begin(&store, number);
		assert_int_equal(id, store.next_id - 1);
		assert_int_equal(newest_distance(), 0);
		assert_int_equal(page_store_set_current(&store, number, id), 0);
		assert_int_equal(page_store_begin(&store, number), 0);
	}
	assert_int_equal(page_store_begin(&store, 5), 0);
	assert_false(page_store_begins(&store, 64));
	/* The next patch is on top of that. */
	id = page_store_current(&store, 2);
	bases_next_turn(&store.bases);
	assert_false(page_store_begins(&store, 0));
	assert_false(snapshot(2, 1));
	assert_int_equal(newest_distance(),
			 page_store_current(&store, 2) - id);
	/* What did not change meanwhile is not stored again. */
	change_until_begun();
	assert_int_equal(page_store_begin(&store, 3), 0);
	assert_int_not_equal(page_store_begin(&store, 2), 0);
}

/* Their room is bounded: those that are not asked for make way. */
static void bases_make_way(void **state)
{
	struct bases *bases = &store.bases;
	const uint8_t *bytes;
	const struct base *base;

	(void)state;
	for (unsigned i = 0; i < BASES_MOST + 10; i++) {
		content(i);
		bases_keep(bases, &(struct base){
			.page = i, .id = i + 1, .patches = 2,
		}, page);
	}
	assert_null(bases_find(bases, BASES_MOST, &bytes));
	base = bases_find(bases, BASES_MOST - 1, &bytes);
	assert_non_null(base);
	assert_int_equal(base->id, BASES_MOST);
	assert_int_equal(base->patches, 2);
	assert_memory_equal(bytes, content(BASES_MOST - 1), GUEST_PAGE);
	for (unsigned turn = 0; turn < 5; turn++) {
		bases_next_turn(bases);
		for (unsigned i = 0; i < BASES_MOST; i++)
			if (i < 100 || i >= 200)
				assert_non_null(bases_find(bases, i, &bytes));
		bases_keep(bases, &(struct base){
			.page = 1000000 + turn, .id = 1,
		}, page);
	}
	assert_non_null(bases_find(bases, 1000004, &bytes));
	assert_null(bases_find(bases, 1000000, &bytes));
	assert_non_null(bases_find(bases, 0, &bytes));
	assert_int_equal(bases->count, BASES_MOST);
	assert_int_equal(bases->places.count, BASES_MOST);
}

/*
 * Else something new in the child could be where they were, and go with them.
 */
static void bases_keep_their_place_in_a_child(void **state)
{
	struct bases *bases = &store.bases;
	int status = -1;
	pid_t pid;

	(void)state;
	bases_keep(bases, &(struct base){ .page = 5, .id = 1 }, content(5));
	pid = fork();
	if (pid == 0) {
		unsigned char in_memory;
		bool is_there = !mincore(bases->bytes, GUEST_PAGE, &in_memory);
		bool is_empty = is_there && page_is_zero(bases->bytes);

		bases_release(bases);
		_exit(is_empty ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_memory_equal(bases->bytes, content(5), GUEST_PAGE);
}

/* The tables grow; nothing is lost. */
static void many(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 20000; i++) {
		assert_int_equal(add(i), i);
		take_batch();
		assert_int_equal(page_store_set_current(&store, i * 513, i),
				 0);
	}
	for (unsigned i = 1; i <= 20000; i++) {
		assert_int_equal(add(i), i);
		assert_int_equal(page_store_current(&store, i * 513), i);
		assert_int_equal(page_store_current(&store, i * 513 + 1), 0);
	}
	assert_int_equal(store.batch.count, 0);
}

static void newest_snapshot(void **state)
{
	(void)state;
	assert_int_equal(page_store_current(&store, 0), 0);
	assert_int_equal(page_store_set_current(&store, 0, 4), 0);
	assert_int_equal(page_store_set_current(&store, UINT64_MAX - 1, 5), 0);
	assert_int_equal(page_store_current(&store, 0), 4);
	assert_int_equal(page_store_current(&store, UINT64_MAX - 1), 5);
	assert_int_equal(page_store_set_current(&store, 0, 6), 0);
	assert_int_equal(page_store_current(&store, 0), 6);
	assert_int_equal(store.current.count, 2);
	assert_int_equal(page_store_set_current(&store, 0, 0), 0);
	assert_int_equal(page_store_current(&store, 0), 0);
}

static uint64_t seen[64];
static size_t seen_count;

static void on_page(void *context, uint64_t number)
{
	assert_ptr_equal(context, &store);
	assert_true(seen_count < COUNT(seen));
	seen[seen_count++] = number;
}

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* By number for a small range, through the table for a large one. */
static void visits(void **state)
{
	static const uint64_t ranges[] = { 11, UINT64_C(1) << 40 };

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(page_store_set_current(&store, i,
							i % 3 ? i : 0), 0);
	for (size_t i = 0; i < COUNT(ranges); i++) {
		size_t expected = 0;

		seen_count = 0;
		page_store_each(&store, 10, ranges[i], on_page, &store);
		qsort(seen, seen_count, sizeof(*seen), by_number);
		for (uint64_t p = 10; p < 30 && p - 10 < ranges[i]; p++)
			if (p % 3)
				assert_int_equal(seen[expected++], p);
		assert_int_equal(seen_count, expected);
	}
	seen_count = 0;
	page_store_each(&store, 10, 0, on_page, &store);
	page_store_each(&store, 1000, 10, on_page, &store);
	assert_int_equal(seen_count, 0);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "each content once", each_content_once, NULL);
	add_test(&list, "zeros are never stored", zeros_are_never_stored, NULL);
	add_test(&list, "batches go on", batches_go_on, NULL);
	add_test(&list, "patches", patches, NULL);
	add_test(&list, "groups begin anew", groups_begin_anew, NULL);
	add_test(&list, "bases make way", bases_make_way, NULL);
	add_test(&list, "bases keep their place in a child",
		 bases_keep_their_place_in_a_child, NULL);
	add_test(&list, "many", many, NULL);
	add_test(&list, "the newest snapshot", newest_snapshot, NULL);
	add_test(&list, "visits", visits, NULL);
	for (size_t i = 0; i < list.count; i++) {
		list.tests[i].setup_func = start;
		list.tests[i].teardown_func = end;
	}
	return run_list("page_store", &list);
}
