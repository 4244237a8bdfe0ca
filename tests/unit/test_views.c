/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_views.c - what a thread is told of the others' writes */
#include <stdio.h>
#include <string.h>

#include "tests/unit/table.h"
#include "vm/memory/memory_internal.h"
#include "vm/memory/views.h"

#define BASE UINT64_C(0x10000)
#define PAGES 4

/*
 * A history: "0w1" is view 0 writing to page 1, "1r1" view 1 reading it,
 * "=" the start of a segment, "!2" a new mapping over page 2.  A turn begins
 * where the view changes, and at each "|".
 */
struct history {
	const char *name, *steps;
	/*
	 * What views are told, in order: "V:P" and the byte that was known
	 * before, "-" if it was the whole page, "0" if zero, then the byte now.
	 */
	const char *told;
};

static const struct history histories[] = {
	{ "what nobody wrote", "0r1 1r1 0r1", "" },
	{ "its own writes", "0w1 0r1 | 0w1 | 0r1", "" },
	{ "another's write, for the first time", "0w1 1r1", "1:1-a " },
	{ "once in a turn", "0w1 1r1 1r1 1w1 1r1", "1:1-a " },
	{ "not again what it knows", "0w1 1r1 0r1 1r1", "1:1-a " },
	{ "the difference to what it knew", "0w1 1r1 0w1 1r1",
	  "1:1-a 1:1ab " },
	{ "what was written in several turns", "0w1 1r1 0w1 | 0w1 | 0w1 1r1",
	  "1:1-a 1:1ad " },
	{ "to and fro", "0w1 1w1 0w1 1w1 0r1",
	  "1:1-a 0:1ab 1:1bc 0:1cd " },
	{ "a write without a read before", "0w1 1w1 0r1", "1:1-a 0:1ab " },
	{ "three that share", "0w1 1r1 2r1 0w1 2r1 1r1",
	  "1:1-a 2:1-a 2:1ab 1:1ab " },
	{ "a third's write", "0w1 1w1 2w1 0r1 1r1",
	  "1:1-a 2:1-b 0:1ac 1:1bc " },
	{ "pages on their own", "0w1 0w2 1r2 1r1", "1:2-b 1:1-a " },
	{ "a new segment", "0w1 1r1 0w1 = 1r1", "1:1-a " },
	{ "in the new segment", "0w1 = 0w1 1r1", "1:1-b " },
	{ "a new mapping", "0w1 !1 1r1", "" },
	{ "what comes after it", "0w1 1r1 !1 0w1 1r1", "1:1-a 1:10b " },
};

static struct memory *memory;
static char told[400];
static unsigned view;

static void on_learned(void *context, uint64_t page, const uint8_t *before,
		       const uint8_t *now)
{
	size_t size = strlen(told);

	(void)context;
	snprintf(told + size, sizeof(told) - size, "%u:%u%c%c ", view,
		 (unsigned)(page - (BASE >> GUEST_PAGE_SHIFT)),
		 !before ? '-' : before[100] ? before[100] : '0', now[100]);
}

static void on_first_write(void *context, uint64_t page)
{
	(void)context;
	(void)page;
}

static void map(unsigned first, unsigned count)
{
	struct region region = {
		.start = BASE + first * GUEST_PAGE,
		.end = BASE + (first + count) * GUEST_PAGE,
		.prot = MAY_READ | MAY_WRITE,
		.name = "",
	};

	assert_int_equal(memory_map(memory, &region, -1, NULL), 0);
}

static void turn(unsigned next)
{
	view = next;
	views_turn(memory->views, view);
}

/* One step that begins at `at`; `letter` is what is written next. */
static void perform(const char *at, char *letter)
{
	guest_addr addr = BASE + (guest_addr)(at[2] - '0') * GUEST_PAGE + 100;
	unsigned next = (unsigned)(at[0] - '0');
	char byte;

	if (next != view)
		turn(next);
	if (at[1] == 'w')
		assert_int_equal(memory_store(memory, addr, letter, 1), 0);
	else
		assert_int_equal(memory_read(memory, addr, &byte, 1), 0);
	*letter = (char)(*letter + (at[1] == 'w'));
}

static void test_history(void **state)
{
	const struct history *history = *state;
	const struct memory_observer observer = {
		.first_write = on_first_write, .learned = on_learned,
	};
	char letter = 'a';

	assert_int_equal(memory_create(&memory, &observer, NULL), 0);
	map(0, PAGES);
	memory->views = views_create(memory);
	assert_non_null(memory->views);
	told[0] = '\0';
	turn(0);
	for (const char *at = history->steps; *at; at++) {
		switch (*at) {
		case ' ':
			break;
		case '|':
			turn(view);
			break;
		case '=':
			memory_arm(memory);
			break;
		case '!':
			map((unsigned)(*++at - '0'), 1);
			break;
		default:
			perform(at, &letter);
			at += 2;
		}
	}
	assert_string_equal(told, history->told);
	memory_destroy(memory);
}

/* Whether further writes of the turn need no call. */
static void test_passes(void **state)
{
	const struct memory_observer observer = {
		.first_write = on_first_write, .learned = on_learned,
	};
	uint64_t page;

	(void)state;
	assert_int_equal(memory_create(&memory, &observer, NULL), 0);
	map(0, PAGES);
	memory->views = views_create(memory);
	page = mapping_at(memory, 0)->arena >> GUEST_PAGE_SHIFT;
	memory_store(memory, BASE, "x", 1);
	turn(0);
	assert_false(views_touch(memory, page, false));
	assert_true(views_touch(memory, page, true));
	assert_true(views_touch(memory, page, false));
	turn(0);
	assert_false(views_touch(memory, page, false));
	turn(1);
	assert_false(views_touch(memory, page, false));
	assert_true(views_touch(memory, page, true));
	memory_destroy(memory);
}

int main(void)
{
	struct test_list list = { 0 };

	for (size_t i = 0; i < COUNT(histories); i++)
		add_test(&list, histories[i].name, test_history, &histories[i]);
	add_test(&list, "writes pass for the rest of a turn", test_passes,
		 NULL);
	return run_list("views", &list);
}
