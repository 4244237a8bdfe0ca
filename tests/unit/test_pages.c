/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pages.c - pages of mappings that are large: nobody touches most */
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "tests/unit/told.h"
#include "vm/memory/memory_internal.h"

#define BASE UINT64_C(0x10000000000)
#define PAGE(n) (BASE + (guest_addr)(n) * GUEST_PAGE)
#define NUMBER(n) (PAGE(n) >> GUEST_PAGE_SHIFT)

/* 16 TiB: work for each page of it would take minutes. */
#define MANY (UINT64_C(1) << 32)
#define MIDDLE (MANY / 2)

/* ------- what the observer is told ------- */

/* "5", "m+5", "e-5": from the start, the middle and the end. */
static const char *name_of(uint64_t page)
{
	static char text[32];
	int64_t n = (int64_t)(page - NUMBER(0));

	if (n > (int64_t)MANY - 100000)
		snprintf(text, sizeof(text), "e-%d", (int)((int64_t)MANY - n));
	else if (n > (int64_t)MIDDLE - 100000)
		snprintf(text, sizeof(text), "m%+d", (int)(n - (int64_t)MIDDLE));
	else
		snprintf(text, sizeof(text), "%d", (int)n);
	return text;
}

static void on_first_read(void *context, uint64_t page)
{
	(void)context;
	tell("read %s;", name_of(page));
}

static void on_first_write(void *context, uint64_t page)
{
	(void)context;
	tell("write %s;", name_of(page));
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	(void)context;
	bytes[0] = (uint8_t)doubt;
	tell("resolve %s %u;", name_of(page), (unsigned)doubt);
}

static void on_supply(void *context, uint64_t page, uint64_t count,
		      uint8_t *bytes)
{
	(void)context;
	assert_int_equal(count, 1);
	bytes[0] = (uint8_t)page;
	tell("supply %s;", name_of(page));
}

static const struct memory_observer recording = {
	.first_read = on_first_read, .first_write = on_first_write,
	.resolve = on_resolve,
};

static const struct memory_observer replaying = {
	.resolve = on_resolve, .supply = on_supply,
};

/* ------- helpers ------- */

static struct memory *memory;

static void start(const struct memory_observer *observer)
{
	const struct region region = {
		.start = PAGE(0), .end = PAGE(MANY),
		.prot = MAY_READ | MAY_WRITE, .name = "",
	};
	struct failure why;

	assert_int_equal(memory_create(&memory, observer, &why), 0);
	assert_int_equal(memory_map(memory, &region, -1, &why), 0);
	told[told_size = 0] = 0;
}

static int end(void **state)
{
	(void)state;
	memory_destroy(memory);
	memory = NULL;
	return 0;
}

/* In a replay, the TLB misses. */
static volatile uint8_t *host(uint64_t page, bool write)
{
	struct mapping *map = memory_find(memory, PAGE(page));

	if (memory->asks)
		arena_touch(memory, map, mapping_arena(map, PAGE(page)) >>
					 GUEST_PAGE_SHIFT, write);
	return memory->arena + mapping_arena(map, PAGE(page));
}

static uint8_t load(uint64_t page)
{
	return *host(page, false);
}

static void store(uint64_t page, uint8_t byte)
{
	*host(page, true) = byte;
}

static void doubt(uint64_t page, uint64_t count, uint64_t number)
{
	assert_int_equal(memory_set_doubtful(memory, PAGE(page),
					     count << GUEST_PAGE_SHIFT,
					     number), 0);
}

static void on_range(void *context, uint64_t page, uint64_t count,
		     uint64_t number)
{
	(void)context;
	tell("%s ", name_of(page));
	tell("to %s: ", name_of(page + count));
	tell("%u;", (unsigned)number);
}

static void assert_doubts(const char *expected)
{
	told[told_size = 0] = 0;
	memory_each_doubt(memory, on_range, NULL);
	assert_told(expected);
}

/* The whole is one region, however we see it. */
static void assert_one_region(void)
{
	size_t count;
	const struct region *regions = memory_regions(memory, &count);

	assert_int_equal(count, 1);
	assert_true(regions[0].start == PAGE(0));
	assert_true(regions[0].end == PAGE(MANY));
}

/* ------- tests ------- */

static void touches(void **state)
{
	(void)state;
	start(&recording);
	store(0, 1);
	load(MIDDLE);
	store(MANY - 1, 2);
	assert_told("write 0;read m+0;write e-1;");
	for (int i = 0; i < 3; i++) {
		memory_arm(memory);
		assert_int_equal(load(0), 1);
		assert_int_equal(load(MANY - 1), 2);
		/* What was touched before will be. */
		assert_told("write 0;read m+0;write e-1;");
	}
	assert_doubts("");
}

/* A touched page may bring others along, but not many. */
static void assert_touched(uint64_t page, uint64_t expected)
{
	uint64_t got = memory_next_touched(memory, NUMBER(page),
					   NUMBER(MANY)) - NUMBER(0);

	assert_true(got <= expected && expected - got <= 2 * PAGE_BLOCK);
}

static void touched(void **state)
{
	const uint64_t other = MIDDLE + 4 * PAGE_BLOCK;
	const struct region region = {
		.start = PAGE(other), .end = PAGE(other + 1),
		.prot = MAY_READ | MAY_WRITE, .name = "",
	};

	(void)state;
	start(&recording);
	assert_touched(0, MANY);
	store(MIDDLE, 1);
	memory_poke(memory, PAGE(MANY - 1), "x", 1);
	assert_touched(0, MIDDLE);
	assert_touched(MIDDLE, MIDDLE);
	assert_touched(MIDDLE + PAGE_BLOCK, MANY - 1);
	assert_touched(MANY - 1, MANY - 1);
	memory_clear(memory, PAGE(0), MANY << GUEST_PAGE_SHIFT);
	memory_unmap(memory, PAGE(0), MIDDLE << GUEST_PAGE_SHIFT);
	assert_touched(MIDDLE + PAGE_BLOCK, MANY - 1);
	assert_true(memory_next_touched(memory, NUMBER(0), NUMBER(5)) ==
		    NUMBER(5));
	/* It need not be in a row in the arena. */
	assert_int_equal(memory_map(memory, &region, -1, NULL), 0);
	store(other, 3);
	assert_touched(MIDDLE + PAGE_BLOCK, other);
}

static void no_observer(void **state)
{
	(void)state;
	start(NULL);
	store(0, 1);
	store(MANY - 1, 2);
	assert_int_equal(load(0) + load(MIDDLE) + load(MANY - 1), 3);
	assert_int_equal(memory_clear(memory, PAGE(0),
				      MANY << GUEST_PAGE_SHIFT), 0);
	assert_int_equal(load(0) + load(MANY - 1), 0);
}

static void moving(void **state)
{
	uint8_t byte;

	(void)state;
	start(&recording);
	store(MANY - 1, 2);
	assert_int_equal(memory_move(memory, PAGE(0), PAGE(2 * MANY),
				     MANY << GUEST_PAGE_SHIFT), 0);
	assert_int_equal(memory_look(memory, PAGE(3 * MANY - 1), &byte, 1), 0);
	assert_int_equal(byte, 2);
	told[told_size = 0] = 0;
	memory_arm(memory);
	assert_int_equal(memory_unmap(memory, PAGE(2 * MANY),
				      (MANY - 1) << GUEST_PAGE_SHIFT), 0);
	/* A part of what was one, and has its own address. */
	memory_move(memory, PAGE(3 * MANY - 1), PAGE(7), GUEST_PAGE);
	assert_int_equal(load(7), 2);
	assert_told("write e-1;");
	memory_arm(memory);
	assert_told("write 7;");
}

static void clearing(void **state)
{
	(void)state;
	start(&recording);
	store(1, 1);
	doubt(3, 1, 9);
	doubt(1, 1, 9);
	told[told_size = 0] = 0;
	assert_int_equal(memory_clear(memory, PAGE(0),
				      MANY << GUEST_PAGE_SHIFT), 0);
	assert_doubts("");
	/* It was written, and closed meanwhile. */
	assert_int_equal(load(1), 0);
	assert_told("read 1;");
	assert_int_equal(load(3), 0);
	assert_told("read 3;");
}

static void doubts_recorded(void **state)
{
	(void)state;
	start(&recording);
	doubt(0, MANY, 3);
	assert_doubts("0 to e-0: 3;");
	load(5);
	load(MIDDLE);
	assert_told("resolve 5 3;read 5;resolve m+0 3;read m+0;");
	assert_doubts("0 to 5: 3;6 to m+0: 3;m+1 to e-0: 3;");
	/* Parts, some of them known. */
	doubt(4, 3, 7);
	doubt(MIDDLE, 2, 4);
	assert_doubts("0 to 4: 3;4 to 7: 7;7 to m+0: 3;m+0 to m+2: 4;"
		      "m+2 to e-0: 3;");
	load(5);
	assert_told("resolve 5 7;");
	doubt(0, MANY, 8);
	assert_doubts("0 to e-0: 8;");
	assert_int_equal(load(5), 8);
	assert_one_region();
}

static void doubts_replayed(void **state)
{
	(void)state;
	start(&replaying);
	store(9, 1);
	doubt(1000, MIDDLE, 3);
	doubt(MANY - 1000, 1000, 2);
	assert_doubts("1000 to m+1000: 3;e-1000 to e-0: 2;");
	assert_one_region();
	memory_set_absent(memory);
	assert_doubts("1000 to m+1000: 3;e-1000 to e-0: 2;");
	assert_int_equal(load(9), (uint8_t)NUMBER(9));
	assert_int_equal(load(1000), 3);
	assert_int_equal(load(MIDDLE + 2000),
			 (uint8_t)NUMBER(MIDDLE + 2000));
	assert_int_equal(load(MANY - 1), 2);
	assert_told("supply 9;resolve 1000 3;supply m+2000;resolve e-1 2;");
	/* What was doubtful and is known, is absent with the rest. */
	memory_set_absent(memory);
	assert_int_equal(load(1000), (uint8_t)NUMBER(1000));
	assert_int_equal(load(1001), 3);
	assert_told("supply 1000;resolve 1001 3;");
	/* Doubtful while it is absent: of no use to supply it. */
	doubt(10, 1, 5);
	doubt(2000, 20000, 6);
	load(10);
	load(2000);
	assert_told("resolve 10 5;resolve 2000 6;");
	assert_one_region();
}

static void absent_and_moved(void **state)
{
	(void)state;
	start(&replaying);
	memory_set_absent(memory);
	load(3);
	assert_int_equal(memory_move(memory, PAGE(0), PAGE(2 * MANY),
				     MIDDLE << GUEST_PAGE_SHIFT), 0);
	told[told_size = 0] = 0;
	assert_int_equal(load(2 * MANY + 4), (uint8_t)NUMBER(4));
	assert_int_equal(load(2 * MANY + 3), (uint8_t)NUMBER(3));
	assert_told("supply 4;");
	assert_int_equal(memory_move(memory, PAGE(2 * MANY), PAGE(0),
				     MIDDLE << GUEST_PAGE_SHIFT), 0);
	assert_int_equal(load(5), (uint8_t)NUMBER(5));
	assert_told("supply 5;");
	assert_one_region();
}

static void absent_and_cleared(void **state)
{
	(void)state;
	start(&replaying);
	memory_set_absent(memory);
	load(MIDDLE + 1);
	told[told_size = 0] = 0;
	assert_int_equal(memory_clear(memory, PAGE(MIDDLE),
				      (MIDDLE / 2) << GUEST_PAGE_SHIFT), 0);
	assert_int_equal(memory_clear(memory, PAGE(1), GUEST_PAGE), 0);
	assert_int_equal(load(MIDDLE) + load(MIDDLE + 1) + load(1), 0);
	assert_told("");
	load(MIDDLE - 1);
	load(2);
	load(MANY - 1);
	assert_told("supply m-1;supply 2;supply e-1;");
	assert_one_region();
}

/* ------- starting again ------- */

#define CODE (2 * MANY)
#define MADE (2 * MANY + 100)

/* Code of a file, code that a program has made, and what may be written. */
static void start_again(void)
{
	const struct region code = {
		.start = PAGE(CODE), .end = PAGE(CODE + 50),
		.prot = MAY_READ | MAY_EXEC, .kind = REGION_FILE, .name = "f",
	};
	const struct region made = {
		.start = PAGE(MADE), .end = PAGE(MADE + 50),
		.prot = MAY_READ | MAY_EXEC, .name = "",
	};
	struct failure why;

	start(&replaying);
	assert_int_equal(memory_map(memory, &code, -1, &why), 0);
	assert_int_equal(memory_map(memory, &made, -1, &why), 0);
	memory_set_absent(memory);
	for (unsigned i = 0; i < 4; i++) {
		load(i);
		load(CODE + i);
		load(MADE + i);
	}
	memory->stale_count = 0;
	told[told_size = 0] = 0;
}

/* All but the third page of each. */
static bool stays(void *context, uint64_t page)
{
	(void)context;
	return page != NUMBER(2) && page != NUMBER(CODE + 2) &&
	       page != NUMBER(MADE + 2);
}

static bool is_stale(uint64_t page)
{
	for (size_t i = 0; i < memory->stale_count; i++)
		if (PAGE(page) - memory->stale[i].addr < memory->stale[i].size)
			return true;
	return false;
}

/* How many of the first four pages must be supplied again. */
static unsigned count_supplied(uint64_t first)
{
	unsigned count = 0;

	told[told_size = 0] = 0;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(load(first + i), (uint8_t)NUMBER(first + i));
	for (const char *at = told; (at = strstr(at, "supply")); at++)
		count++;
	told[told_size = 0] = 0;
	return count;
}

static void restarted(void **state)
{
	(void)state;
	start_again();
	memory_restart(memory, stays, NULL);
	assert_false(is_stale(CODE + 1) || is_stale(CODE + 2));
	assert_false(is_stale(MADE + 1) || is_stale(MADE + 3));
	assert_true(is_stale(MADE + 2));
	assert_true(memory_is_known(memory, NUMBER(CODE + 1)));
	assert_false(memory_is_known(memory, NUMBER(CODE + 2)));
	assert_int_equal(count_supplied(0), 4);
	assert_int_equal(count_supplied(CODE), 1);
	assert_int_equal(count_supplied(MADE), 1);
	/* Those that stayed, do so again. */
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(CODE), 1);
}

static void restarted_doubtful(void **state)
{
	(void)state;
	start_again();
	memory_restart(memory, stays, NULL);
	assert_int_equal(memory_restore_doubt(memory, PAGE(CODE + 1),
					      GUEST_PAGE, 7), 0);
	assert_false(memory_is_known(memory, NUMBER(CODE + 1)));
	assert_int_equal(load(CODE + 1), 7);
	assert_null(strstr(told, "supply"));
	/* What was doubtful has not been supplied. */
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(CODE), 2);
}

/* What something else has changed, does not stay. */
static void restarted_changed(void **state)
{
	const uint8_t bytes[GUEST_PAGE] = { 99 };

	(void)state;
	start_again();
	memory_fill(memory, NUMBER(CODE + 1), 1, bytes);
	assert_int_equal(load(CODE + 1), 99);
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(CODE), 2);
	assert_int_equal(memory_poke(memory, PAGE(CODE + 1), bytes, 1), 0);
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(CODE), 4);
	assert_int_equal(memory_clear(memory, PAGE(MADE), GUEST_PAGE), 0);
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(MADE), 4);
}

/* A page that was supplied as another one, is none. */
static void restarted_moved(void **state)
{
	(void)state;
	start_again();
	assert_int_equal(memory_move(memory, PAGE(CODE), PAGE(CODE + 50),
				     50 * GUEST_PAGE), 0);
	memory_restart(memory, stays, NULL);
	assert_int_equal(count_supplied(CODE + 50), 4);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "touches", touches, NULL);
	add_test(&list, "touched", touched, NULL);
	add_test(&list, "without an observer", no_observer, NULL);
	add_test(&list, "moving", moving, NULL);
	add_test(&list, "clearing", clearing, NULL);
	add_test(&list, "doubts, recorded", doubts_recorded, NULL);
	add_test(&list, "doubts, replayed", doubts_replayed, NULL);
	add_test(&list, "absent and moved", absent_and_moved, NULL);
	add_test(&list, "absent and cleared", absent_and_cleared, NULL);
	add_test(&list, "restarted", restarted, NULL);
	add_test(&list, "restarted, doubtful", restarted_doubtful, NULL);
	add_test(&list, "restarted, changed", restarted_changed, NULL);
	add_test(&list, "restarted, moved", restarted_moved, NULL);
	for (size_t i = 0; i < list.count; i++)
		list.tests[i].teardown_func = end;
	return run_list("pages", &list);
}
