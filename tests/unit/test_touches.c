/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_touches.c - the first touches of pages, and absent ones */
#include <sys/mman.h>

#include "tests/unit/between.h"
#include "tests/unit/memory_sample.h"

static void touches_are_told_once(void **state)
{
	(void)state;
	start(&recording);
	map(0, 40, MAY_READ | MAY_WRITE);
	map(100, 101, MAY_READ | MAY_WRITE);
	told[told_size = 0] = 0;
	load(5);
	load(5);
	assert_told("read 5;");
	store(5, 1);
	store(5, 2);
	load(5);
	assert_told("write 5;");
	store(20, 3);
	load(20);
	assert_told("write 20;");
	/* What was written stays open, and is told at once. */
	memory_arm(memory);
	assert_told("write 5;write 20;");
	load(5);
	store(5, 4);
	assert_int_equal(load(20), 3);
	assert_told("");
	/* It holds what it held: it is closed. */
	memory_found_unchanged(memory, NUMBER(20));
	memory_arm(memory);
	assert_told("write 5;");
	assert_int_equal(load(20), 3);
	assert_told("read 20;");
	store(20, 4);
	assert_told("write 20;");
	/* Untouched for a whole segment: forgotten. */
	memory_found_unchanged(memory, NUMBER(5));
	memory_found_unchanged(memory, NUMBER(20));
	memory_arm(memory);
	memory_arm(memory);
	assert_told("");
	assert_int_equal(load(5), 4);
	assert_told("read 5;");
	store(100, 1);
	assert_told("write 100;");
}

/* What was read stays open too, but not for ever. */
static void reads_are_told_again(void **state)
{
	unsigned rounds = 100, closed = 0;

	(void)state;
	start(&recording);
	map(0, 1, MAY_READ | MAY_WRITE);
	load(0);
	for (unsigned i = 0; i < rounds; i++) {
		told[told_size = 0] = 0;
		memory_arm(memory);
		closed += !told_size;
		load(0);
		assert_told("read 0;");
	}
	assert_between(closed, 1, rounds / 4);
	/* Nobody reads it any more. */
	for (unsigned i = 0; i < rounds; i++) {
		told[told_size = 0] = 0;
		memory_arm(memory);
	}
	assert_told("");
}

/* What was written before is only taken for written again if it may be. */
static void what_is_not_written_is_not_told_so(void **state)
{
	(void)state;
	start(&recording);
	map(0, 1, MAY_READ | MAY_WRITE);
	told[told_size = 0] = 0;
	store(0, 1);
	assert_told("write 0;");
	assert_int_equal(memory_protect(memory, PAGE(0), GUEST_PAGE, MAY_READ),
			 0);
	told[told_size = 0] = 0;
	memory_arm(memory);
	assert_told("");
	load(0);
	assert_told("read 0;");
}

/* Neighbours may be told along, but none is told twice. */
static void neighbours_are_told_along(void **state)
{
	(void)state;
	start(&recording);
	map(0, 64, MAY_READ | MAY_WRITE);
	for (int i = 0; i < 64; i++)
		store(i, (uint8_t)i);
	assert_int_equal(writes, 64);
	for (int i = 0; i < 64; i++)
		memory_found_unchanged(memory, NUMBER(i));
	memory_arm(memory);
	writes = reads = 0;
	for (int i = 63; i >= 0; i--)
		assert_int_equal(load(i), i);
	assert_int_equal(writes, 0);
	assert_int_equal(reads, 64);
	/* One alone, then far from it. */
	store(10, 1);
	assert_int_equal(writes, 1);
	store(30, 1);
	assert_int_equal(writes, 2);
	/* In order: pages that come next are told, too, if they are open. */
	for (int i = 31; i < 64; i++)
		store(i, 2);
	assert_int_equal(writes, 2 + 33);
	/* So are those before, down to 11, as 10 is told already. */
	store(29, 3);
	assert_between(writes, 2 + 33 + 2, 2 + 33 + 19);
	for (int i = 28; i > 10; i--)
		store(i, 3);
	assert_int_equal(writes, 2 + 33 + 19);
}

/* More pages than the host can have mappings. */
static void many_touches(void **state)
{
	const int count = 70000;

	(void)state;
	start(&recording);
	map(0, 2 * count, MAY_READ | MAY_WRITE);
	for (int round = 0; round < 3; round++) {
		told[told_size = 0] = 0;
		for (int i = 0; i < count; i++) {
			int page = (int)((unsigned)i * 7919u % 70001u) * 2;

			if (page >= 2 * count)
				continue;
			if (i % 2)
				store(page, (uint8_t)i);
			else
				load(page);
			told[told_size = 0] = 0;
		}
		assert_true(reads + writes >= (unsigned)count - 1);
		assert_true(writes <= 2 * (unsigned)count);
		assert_true(reads <= 2 * (unsigned)count);
		reads = writes = 0;
		memory_arm(memory);
	}
}

/* A replay: clusters leave doubtful pages alone. */
static void many_supplies(void **state)
{
	const int count = 40000;

	(void)state;
	start(&replaying);
	map(0, count, MAY_READ | MAY_WRITE);
	for (int i = 3; i < count; i += 100)
		assert_int_equal(memory_set_doubtful(memory, PAGE(i), PAGES(1),
						     7), 0);
	memory_set_absent(memory);
	for (int i = 0; i < count; i++) {
		int page = (int)((unsigned)i * 7919u % 39989u);

		if (page % 100 == 3)
			continue;
		assert_int_equal(load(page), (uint8_t)NUMBER(page));
		told[told_size = 0] = 0;
	}
	for (int i = 3; i < count; i += 100) {
		assert_int_equal(memory_page_doubt(memory, NUMBER(i)), 7);
		load(i);
		assert_true(!strncmp(told, "resolve ", 8));
		assert_null(strstr(told, "supply"));
		told[told_size = 0] = 0;
	}
}

static void absent_pages(void **state)
{
	(void)state;
	start(&replaying);
	map(0, 6, MAY_READ | MAY_WRITE);
	put(0, 9);
	assert_int_equal(memory_set_doubtful(memory, PAGE(5), PAGES(1), 2), 0);
	memory_set_absent(memory);
	assert_null(memory_peek(memory, NUMBER(0)));
	assert_told("");
	assert_int_equal(load(0), (uint8_t)NUMBER(0));
	assert_told("supply 0;");
	assert_non_null(memory_peek(memory, NUMBER(0)));
	/* Where it was, not where it is. */
	assert_int_equal(memory_move(memory, PAGE(1), PAGE(10), PAGES(2)), 0);
	assert_int_equal(get(11), (uint8_t)NUMBER(2));
	assert_told("supply 2;");
	/* A part of it is written: the rest is supplied first. */
	assert_int_equal(memory_poke(memory, PAGE(3) + 5, "x", 1), 0);
	assert_told("supply 3;");
	assert_int_equal(get(3), (uint8_t)NUMBER(3));
	/* Cleared or mapped anew: nothing is supplied. */
	assert_int_equal(memory_clear(memory, PAGE(4), PAGES(1)), 0);
	assert_int_equal(get(4), 0);
	map(10, 11, MAY_READ);
	assert_int_equal(get(10), 0);
	assert_told("");
	assert_int_equal(load(5), 0);
	assert_told("resolve 5 2 00;");
	/* Doubted again while it is absent. */
	memory_set_absent(memory);
	assert_int_equal(memory_set_doubtful(memory, PAGE(3), PAGES(1), 3), 0);
	load(3);
	assert_true(strstr(told, "resolve 3 3 ") != NULL);
}

/* What is absent, once; nothing else. */
static void pages_ahead(void **state)
{
	(void)state;
	start(&replaying);
	map(1, 4, MAY_READ | MAY_WRITE);
	map(6, 12, MAY_READ);
	assert_int_equal(memory_set_doubtful(memory, PAGE(8), PAGES(1), 2), 0);
	memory_set_absent(memory);
	load(2);
	assert_told("supply 2;");
	memory_supply(memory, NUMBER(0), 10);
	assert_told("supply 1;supply 3;supply 6;supply 7;supply 9;");
	assert_int_equal(memory_page_doubt(memory, NUMBER(8)), 2);
	assert_int_equal(load(7), (uint8_t)NUMBER(7));
	assert_int_equal(load(9), (uint8_t)NUMBER(9));
	put(3, 1);
	assert_told("");
	load(10);
	assert_told("supply 10;");
	memory_supply(memory, NUMBER(0), 10);
	assert_told("");
}

/* Others in this process have all the mappings that the host gives. */
__attribute__((unused)) static void no_mappings_left(void **state)
{
	const size_t size = (size_t)1 << 30;
	uint8_t *taken = mmap(NULL, size, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	size_t at = 0;

	(void)state;
	assert_true(taken != MAP_FAILED);
	start(&replaying);
	map(0, 400, MAY_READ | MAY_WRITE);
	memory_set_absent(memory);
	load(7);
	while (at < size && !mprotect(taken + at, GUEST_PAGE, PROT_READ))
		at += 2 * GUEST_PAGE;
	assert_true(at < size);
	for (int page = 1; page < 400; page += 2)
		assert_int_equal(load(page), (uint8_t)NUMBER(page));
	assert_true(memory->is_open);
	store(9, 77);
	/* What is closed again is supplied again, what is unmapped is empty. */
	assert_int_equal(memory_unmap(memory, PAGE(100), PAGES(100)), 0);
	map(100, 200, MAY_READ | MAY_WRITE);
	assert_int_equal(load(101), 0);
	assert_int_equal(load(9), 77);
	memory_set_absent(memory);
	told[told_size = 0] = 0;
	assert_int_equal(load(9), (uint8_t)NUMBER(9));
	assert_told("supply 9;");
	munmap(taken, size);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "touches are told once", touches_are_told_once, NULL);
	add_test(&list, "reads are told again", reads_are_told_again, NULL);
	add_test(&list, "what is not written is not told so",
		 what_is_not_written_is_not_told_so, NULL);
	add_test(&list, "neighbours are told along", neighbours_are_told_along,
		 NULL);
	add_test(&list, "more touches than mappings", many_touches, NULL);
	add_test(&list, "more supplies than mappings", many_supplies, NULL);
	/* The sanitizer's own allocator needs some. */
#ifndef __SANITIZE_ADDRESS__
	add_test(&list, "no mappings left", no_mappings_left, NULL);
#endif
	add_test(&list, "absent pages", absent_pages, NULL);
	add_test(&list, "pages ahead", pages_ahead, NULL);
	return run_with_end("touches", &list);
}
