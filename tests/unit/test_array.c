/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_array.c - items stay as they are while their array grows */
#include "formats/array.h"

#include <stdlib.h>

#include "formats/error.h"
#include "tests/unit/table.h"

enum { MANY = 10000 };

struct item {
	unsigned number;
	char more[9];
};

static void keeps_its_items(void **state)
{
	struct item *items = NULL;
	size_t count = 0, room = 0;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(array_room(items, count, room), 0);
		assert_true(count < room);
		items[count++] = (struct item){ .number = i };
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(items[i].number, i);
	assert_in_range(room, MANY, 2 * MANY);
	free(items);
}

static void stays_where_there_is_room(void **state)
{
	struct item *items = NULL;
	size_t room = 0;
	struct item *before;

	(void)state;
	assert_int_equal(array_room(items, 0, room), 0);
	before = items;
	assert_int_equal(array_room(items, room - 1, room), 0);
	assert_ptr_equal(items, before);
	free(items);
}

/* Of items that no memory could hold; the array is as it was. */
static void says_when_memory_is_short(void **state)
{
	char *items = malloc(1);
	char *before = items;
	size_t room = (size_t)1 << 40;

	(void)state;
	assert_int_equal(array_grow(&items, &room, (size_t)1 << 40),
			 ERR_NO_MEMORY);
	assert_ptr_equal(items, before);
	assert_int_equal(room, (size_t)1 << 40);
	free(items);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "keeps its items", keeps_its_items, NULL);
	add_test(&list, "stays where there is room", stays_where_there_is_room,
		 NULL);
	add_test(&list, "says when memory is short", says_when_memory_is_short,
		 NULL);
	return run_list("array", &list);
}
