/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_number_map.c - a map against an array */
#include "formats/number_map.h"

#include "tests/unit/table.h"

enum { KEYS = 2000 };

/* Keys far apart and in a row; some share their slots. */
static uint64_t key_of(unsigned i)
{
	return i % 3 ? i : (uint64_t)i << 44 | i;
}

static void assert_same(const struct number_map *map, const uint64_t *values)
{
	size_t count = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		const uint64_t *found = number_map_find(map, key_of(i));

		count += values[i] != 0;
		if (!found != !values[i] || (found && *found != values[i]))
			fail_msg("key %u", i);
	}
	assert_int_equal(map->count, count);
}

static void same_as_an_array(void **state)
{
	static uint64_t values[KEYS];
	struct number_map map = { 0 };
	uint64_t random = 88172645463325252u;

	(void)state;
	assert_same(&map, values);
	for (unsigned i = 1; i < 60000; i++) {
		unsigned key;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		key = random % KEYS;
		/* First it grows, then it shrinks. */
		if (random >> 32 & 3 ? i < 30000 : i >= 30000) {
			assert_int_equal(number_map_set(&map, key_of(key), i),
					 0);
			values[key] = i;
		} else {
			number_map_remove(&map, key_of(key));
			values[key] = 0;
		}
		if (i % 5000 == 0)
			assert_same(&map, values);
	}
	number_map_clear(&map);
	assert_int_equal(map.count, 0);
	assert_null(number_map_find(&map, key_of(1)));
	number_map_remove(&map, key_of(1));
	assert_int_equal(number_map_set(&map, 0, 7), 0);
	assert_int_equal(*number_map_find(&map, 0), 7);
	number_map_release(&map);
	assert_null(number_map_find(&map, 0));
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "the same as an array", same_as_an_array, NULL);
	return run_list("number_map", &list);
}
