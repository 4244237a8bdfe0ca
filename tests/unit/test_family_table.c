/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_family_table.c - processes tell each other what they have stored */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/family_table.h"
#include "tests/unit/between.h"
#include "tests/unit/table.h"

static struct family_table *table;

static int start(void **state)
{
	(void)state;
	table = family_table_create();
	return table ? 0 : -1;
}

static struct page_key key(uint64_t number)
{
	return bytes_hash(&number, sizeof(number));
}

static void put(uint64_t number, uint64_t place)
{
	struct page_key k = key(number);

	family_table_put(table, &k, place);
}

static uint64_t find(uint64_t number)
{
	struct page_key k = key(number);

	return family_table_find(table, &k);
}

static void first_one_stays(void **state)
{
	(void)state;
	assert_int_equal(find(7), 0);
	put(7, place_make(1, 5));
	put(8, place_make(2, PLACE_IDS - 1));
	put(7, place_make(3, 6));
	assert_int_equal(find(7), place_make(1, 5));
	assert_int_equal(place_number(find(8)), 2);
	assert_int_equal(place_id(find(8)), PLACE_IDS - 1);
	assert_int_equal(find(9), 0);
}

/* They fill several levels. */
static void many(void **state)
{
	enum { MANY = 300000 };

	(void)state;
	for (uint64_t i = 1; i <= MANY; i++)
		put(i, place_make(1, i));
	for (uint64_t i = 1; i <= MANY; i++)
		assert_int_equal(find(i), place_make(1, i));
	for (uint64_t i = MANY + 1; i <= 2 * MANY; i++)
		assert_int_equal(find(i), 0);
}

/* Keys that all begin the search at one entry. */
static void crowd(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 2000; i++)
		family_table_put(table, &(struct page_key){ 5, i },
				 place_make(1, i));
	for (uint64_t i = 1; i <= 2000; i++)
		assert_int_equal(family_table_find(
					 table, &(struct page_key){ 5, i }),
				 place_make(1, i));
}

static void members(void **state)
{
	struct member member = { .name = { 1234, 2 }, .run = { 9 } };
	const struct member *found;
	int status;

	(void)state;
	assert_null(family_table_member(table, 1));
	assert_int_equal(family_table_join(table, &member), 1);
	if (!fork()) {
		member.name.pid = 77;
		_exit((int)family_table_join(table, &member));
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(WEXITSTATUS(status), 2);
	found = family_table_member(table, 1);
	assert_memory_equal(found, &member, sizeof(member));
	assert_int_equal(family_table_member(table, 2)->name.pid, 77);
	assert_null(family_table_member(table, 3));
	assert_null(family_table_member(table, 0));
	assert_null(family_table_member(table, UINT32_MAX));
}

enum { EACH = 60000, WRITERS = 4 };

/* Half of them are what others put, too. */
static void put_all(uint32_t number)
{
	for (uint64_t i = 1; i <= EACH; i++)
		put(i % 2 ? i : i + number * UINT64_C(1000000),
		    place_make(number, i));
}

static void several_at_once(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= WRITERS; number++)
		if (!fork()) {
			put_all(number);
			_exit(0);
		}
	for (uint32_t number = 1; number <= WRITERS; number++)
		assert_true(wait(NULL) > 0);
	for (uint32_t number = 1; number <= WRITERS; number++)
		for (uint64_t i = 2; i <= EACH; i += 2)
			assert_int_equal(find(i + number * UINT64_C(1000000)),
					 place_make(number, i));
	for (uint64_t i = 1; i <= EACH; i += 2) {
		uint64_t place = find(i);

		assert_between(place_number(place), 1, WRITERS);
		assert_int_equal(place_id(place), i);
	}
}

/* Whoever dies at any moment is in nobody's way. */
static void killed(void **state)
{
	const struct timespec nap = { .tv_nsec = 3000000 };

	(void)state;
	for (uint32_t number = 1; number <= 50; number++) {
		pid_t child = fork();

		assert_true(child >= 0);
		/* Until it is killed. */
		while (!child)
			put_all(number);
		nanosleep(&nap, NULL);
		kill(child, SIGKILL);
		assert_true(wait(NULL) > 0);
	}
	put_all(60);
	for (uint64_t i = 2; i <= EACH; i += 2)
		assert_int_equal(find(i + UINT64_C(60000000)),
				 place_make(60, i));
	for (uint64_t i = 1; i <= EACH; i += 2)
		assert_int_equal(place_id(find(i)), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(first_one_stays, start),
		cmocka_unit_test_setup(many, start),
		cmocka_unit_test_setup(crowd, start),
		cmocka_unit_test_setup(members, start),
		cmocka_unit_test_setup(several_at_once, start),
		cmocka_unit_test_setup(killed, start),
	};

	return cmocka_run_group_tests_name("family_table", tests, NULL, NULL);
}
