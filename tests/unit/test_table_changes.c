/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_table_changes.c - page tables of a machine, against a list of all */
#include "index/table_changes.h"

#include <stdlib.h>

#include "formats/error.h"
#include "tests/unit/table.h"

enum { CHANGES = 500, CORES = 3, SOME = 7, LENGTH = 1200 };

/* What each core has from each time on, and whose turn it is. */
struct moment {
	uint64_t low[CORES];
	unsigned core;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void add(struct table_changes *changes, uint64_t time, uint32_t events,
		unsigned core, uint64_t low)
{
	/* An ASID, which does not count. */
	const struct page_tables tables = {
		.low = low << 12 | next_random() << 48, .high = core << 12,
		.system = 1 | next_random() << 1,
	};
	const struct table_change change = {
		.time = time, .events = events, .core = core,
	};

	table_changes_add(changes, &change, &tables);
}

/* `moments`: by time and 0 or 1 events. */
static void make(struct table_changes *changes, struct moment (*moments)[2])
{
	struct moment now = { { 0 }, 0 };

	for (unsigned core = CORES; core-- > 0;)
		add(changes, 0, 0, core, now.low[core]);
	for (uint64_t time = 0; time < LENGTH; time++) {
		for (uint32_t events = 0; events < 2; events++) {
			if (next_random() % (2 * LENGTH) < CHANGES) {
				now.core = (unsigned)(next_random() % CORES);
				now.low[now.core] = next_random() % SOME;
				add(changes, time, events, now.core,
				    now.low[now.core]);
			}
			moments[time][events] = now;
		}
	}
	assert_int_equal(changes->error, 0);
	assert_true(changes->count > CHANGES / 2);
}

static void encode(struct output *out, struct table_changes *changes)
{
	assert_int_equal(table_changes_encode(out, changes), 0);
	assert_true(out->size);
}

static void all_times(void **state)
{
	static struct moment moments[LENGTH][2];
	struct table_changes changes = { 0 };
	struct output bytes = { 0 };

	(void)state;
	make(&changes, moments);
	encode(&bytes, &changes);
	table_changes_release(&changes);
	assert_int_equal(table_changes_decode(&changes, bytes.bytes,
					      bytes.size), 0);
	assert_true(table_changes_size(&changes) > CHANGES);
	for (unsigned i = 0; i < 2 * LENGTH; i++) {
		const struct moment *now = &moments[i / 2][i % 2];
		const struct page_tables *found =
			table_changes_at(&changes, i / 2, i % 2, NULL);

		assert_int_equal(found->high, now->core << 12);
		assert_int_equal(found->low, now->low[now->core] << 12);
		assert_int_equal(found->system, 1);
		for (uint32_t core = 0; core < CORES; core++)
			assert_int_equal(table_changes_at(&changes, i / 2,
							  i % 2, &core)->low,
					 now->low[core] << 12);
	}
	table_changes_release(&changes);
	output_release(&bytes);
}

static void what_is_not_kept(void **state)
{
	struct table_changes changes = { 0 };
	uint32_t other = 5;

	(void)state;
	add(&changes, 3, 0, 0, 1);
	add(&changes, 9, 0, 0, 1);
	assert_int_equal(changes.count, 1);
	assert_null(table_changes_at(&changes, 2, 9, NULL));
	assert_null(table_changes_at(&changes, 4, 0, &other));
	table_changes_release(&changes);
	assert_null(table_changes_at(&changes, 4, 0, NULL));
}

/* No prefix and no changed byte does harm. */
static void damaged(void **state)
{
	static struct moment moments[LENGTH][2];
	struct table_changes changes = { 0 };
	struct output bytes = { 0 };

	(void)state;
	make(&changes, moments);
	encode(&bytes, &changes);
	table_changes_release(&changes);
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_not_equal(table_changes_decode(&changes, bytes.bytes,
							  size), 0);
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = next_random() % bytes.size;
		uint8_t was = bytes.bytes[at];

		bytes.bytes[at] = (uint8_t)next_random();
		if (!table_changes_decode(&changes, bytes.bytes, bytes.size)) {
			table_changes_at(&changes, LENGTH / 2, 1, NULL);
			table_changes_release(&changes);
		}
		bytes.bytes[at] = was;
	}
	output_release(&bytes);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "all times", all_times, NULL);
	add_test(&list, "what is not kept", what_is_not_kept, NULL);
	add_test(&list, "damaged", damaged, NULL);
	return run_list("table_changes", &list);
}
