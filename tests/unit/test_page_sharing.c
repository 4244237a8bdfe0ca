/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_page_sharing.c - what others have stored is only named */
#include <string.h>

#include "formats/region.h"
#include "recorder/page_store.h"
#include "tests/unit/table.h"

static struct family_table *table;
static struct page_store store;
static uint8_t page[GUEST_PAGE];

static int start(void **state)
{
	struct member first = { .name = { 100, 0 } };

	(void)state;
	memset(page, 0, sizeof(page));
	table = family_table_create();
	if (!table || family_table_join(table, &first) != 1)
		return -1;
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
	memset(page, 0, sizeof(page));
	for (unsigned at = 0; at < GUEST_PAGE; at += 8)
		page[at] = (uint8_t)(number + at / 8);
	memcpy(page + 2000, &number, sizeof(number));
	return page;
}

/* What the writer does with what is in the batch. */
static void publish(void)
{
	for (uint32_t i = 0; i < store.batch.count; i++)
		if (store.keys[i].low)
			family_table_put(table, &store.keys[i],
					 place_make(store.number,
						    store.batch_first + i));
	page_batch_end(&store.batch);
	output_clear(&store.batch.pages);
}

static uint64_t add(uint64_t number, const uint8_t *bytes)
{
	uint64_t id;

	assert_int_equal(page_store_add(&store, number, bytes, &id), 0);
	assert_int_equal(page_store_set_current(&store, number, id), 0);
	return id;
}

/* The newest item: whole, a patch, or elsewhere? */
static char newest(void)
{
	uint64_t distance = store.batch.distances[store.batch.count - 1];

	return distance >> 63 ? 'e' : distance ? 'p' : 'w';
}

/* As a child begins; returns its parent, which goes on. */
static void become_child(uint32_t pid)
{
	struct member member = { .name = { pid, 1 } };
	uint32_t number = family_table_join(table, &member);

	publish();
	assert_int_equal(page_store_inherit(&store, number), 0);
	page_store_share(&store, table);
}

static uint64_t inherit(uint64_t number)
{
	uint64_t id;

	assert_int_equal(page_store_inherit_page(&store, number, &id), 0);
	return id;
}

/* A child names what its parent had, in the order in which it needs it. */
static void from_the_parent(void **state)
{
	uint64_t id;

	(void)state;
	assert_int_equal(add(50, content(1)), 1);
	assert_int_equal(add(51, content(2)), 2);
	assert_int_equal(add(52, content(3)), 3);
	become_child(101);
	assert_int_equal(inherit(52), 1);
	assert_int_equal(newest(), 'e');
	assert_int_equal(inherit(50), 2);
	assert_int_equal(inherit(52), 1);
	assert_int_equal(inherit(99), 0);
	page_store_end_inheriting(&store);
	assert_true(page_store_has(&store, content(2), &id));
	assert_int_equal(id, 3);
	assert_int_equal(newest(), 'e');
	assert_int_equal(store.sharing.member_count, 1);
	assert_int_equal(store.sharing.numbers[0], 1);
	assert_int_equal(add(53, content(4)), 4);
	assert_int_equal(newest(), 'w');
	assert_int_equal(store.batch.count, 4);
}

/* The child of a child names the one that has the bytes. */
static void from_the_first(void **state)
{
	(void)state;
	add(50, content(1));
	become_child(101);
	assert_int_equal(page_store_set_current(&store, 50, inherit(50)), 0);
	page_store_end_inheriting(&store);
	add(51, content(2));
	become_child(102);
	assert_int_equal(inherit(50), 1);
	assert_int_equal(inherit(51), 2);
	page_store_end_inheriting(&store);
	assert_int_equal(store.sharing.pages[0].place, place_make(1, 1));
	assert_int_equal(store.sharing.pages[1].place, place_make(2, 2));
	assert_int_equal(store.sharing.member_count, 2);
}

/* What another process has told. */
static void from_others(void **state)
{
	struct page_key key = page_hash(content(5));
	uint64_t id;

	(void)state;
	become_child(101);
	page_store_end_inheriting(&store);
	assert_false(page_store_has(&store, content(5), &id));
	family_table_put(table, &key, place_make(9, 77));
	assert_true(page_store_has(&store, content(5), &id));
	assert_int_equal(id, 1);
	assert_int_equal(newest(), 'e');
	assert_int_equal(add(50, content(5)), 1);
	assert_int_equal(store.batch.count, 1);
	assert_int_equal(store.sharing.pages[0].place, place_make(9, 77));
}

/* Alone, or as the first process, nobody is asked. */
static void not_from_children(void **state)
{
	struct page_key key = page_hash(content(5));

	(void)state;
	family_table_put(table, &key, place_make(2, 77));
	add(50, content(5));
	assert_int_equal(newest(), 'w');
}

/* A patch on top of what is elsewhere is nobody else's. */
static void patched(void **state)
{
	struct page_key key = page_hash(content(5));
	uint64_t id;

	(void)state;
	become_child(101);
	page_store_end_inheriting(&store);
	family_table_put(table, &key, place_make(1, 77));
	add(50, content(4));
	add(50, content(5));
	assert_int_equal(newest(), 'e');
	content(5);
	page[8]++;
	id = add(50, page);
	assert_int_equal(newest(), 'p');
	key = page_hash(page);
	publish();
	assert_int_equal(family_table_find(table, &key), 0);
	assert_true(page_store_has(&store, page, &id));
	/* Nor its child's. */
	become_child(102);
	assert_true(page_store_is_mixed(&store, 50));
	page_store_end_inheriting(&store);
	assert_false(page_store_has(&store, page, &id));
	assert_int_equal(add(50, page), 1);
	assert_int_equal(newest(), 'w');
	publish();
	assert_int_equal(family_table_find(table, &key), place_make(3, 1));
}

/* Places that follow each other are coded alike. */
static void runs(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 60; i++)
		add(i, content(i));
	become_child(101);
	for (unsigned i = 1; i <= 60; i++)
		inherit(i);
	for (unsigned i = 1; i < 60; i++)
		assert_int_equal(store.batch.distances[i],
				 store.batch.distances[0]);
	page_store_end_inheriting(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_the_parent, start, end),
		cmocka_unit_test_setup_teardown(from_the_first, start, end),
		cmocka_unit_test_setup_teardown(from_others, start, end),
		cmocka_unit_test_setup_teardown(not_from_children, start, end),
		cmocka_unit_test_setup_teardown(patched, start, end),
		cmocka_unit_test_setup_teardown(runs, start, end),
	};

	return cmocka_run_group_tests_name("page_sharing", tests, NULL, NULL);
}
