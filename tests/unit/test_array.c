/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_array.c - items stay as they are while their array grows */
#include "formats/array.h"

#include <stdlib.h>

#include "tests/unit/between.h"
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
	assert_between(room, MANY, 2 * MANY);
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

int main(void)
{
	static struct test_list list;

	add_test(&list, "keeps its items", keeps_its_items, NULL);
	add_test(&list, "stays where there is room", stays_where_there_is_room,
		 NULL);
	return run_list("array", &list);
}
