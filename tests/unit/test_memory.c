/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory.c - what the memory holds, and what its observer is told */
#include "formats/error.h"
#include "tests/unit/memory_sample.h"

/* ------- contents ------- */

static void reading_and_writing(void **state)
{
	uint8_t bytes[2 * GUEST_PAGE];

	(void)state;
	start(&recording);
	map(0, 1, MAY_READ | MAY_WRITE);
	map(1, 2, MAY_READ);
	map(2, 3, 0);
	told[told_size = 0] = 0;
	memset(bytes, 5, sizeof(bytes));
	/* Across the border: nothing is written if not all may be. */
	assert_int_equal(memory_write(memory, PAGE(1) - 10, bytes, 20),
			 ERR_NOT_FOUND);
	assert_told("");
	assert_int_equal(get(0), 0);
	assert_told("read 0;");
	assert_int_equal(memory_poke(memory, PAGE(1) - 10, bytes, 20), 0);
	assert_told("write 0;write 1;wrote 0xff6+20;");
	assert_int_equal(memory_read(memory, PAGE(0), bytes, sizeof(bytes)),
			 0);
	assert_int_equal(bytes[GUEST_PAGE - 11], 0);
	assert_int_equal(bytes[GUEST_PAGE - 10], 5);
	assert_int_equal(bytes[GUEST_PAGE + 9], 5);
	assert_int_equal(bytes[GUEST_PAGE + 10], 0);
	assert_told("");
	assert_int_equal(memory_read(memory, PAGE(2), bytes, 1),
			 ERR_NOT_FOUND);
	assert_int_equal(memory_look(memory, PAGE(2), bytes, 1), 0);
	assert_int_equal(memory_read(memory, PAGE(2) - 1, bytes, 2),
			 ERR_NOT_FOUND);
	assert_int_equal(memory_look(memory, PAGE(3) - 1, bytes, 2),
			 ERR_NOT_FOUND);
	/* Of no bytes at all. */
	assert_int_equal(memory_write(memory, 16, bytes, 0), 0);
	assert_told("read 2;");
	/* The guest's own doing is not told as the kernel's. */
	assert_int_equal(memory_store(memory, PAGE(0), "x", 1), 0);
	assert_int_equal(memory_store(memory, PAGE(1), "x", 1), ERR_NOT_FOUND);
	assert_told("");
	assert_int_equal(get(0), 'x');
}

static void strings(void **state)
{
	char text[64];

	(void)state;
	start(NULL);
	map(0, 1, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(memory, PAGE(1) - 4, "abcd", 4), 0);
	assert_int_equal(memory_read_string(memory, PAGE(1) - 4, text,
					    sizeof(text)), ERR_NOT_FOUND);
	map(1, 2, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(memory, PAGE(1), "ef", 3), 0);
	assert_int_equal(memory_read_string(memory, PAGE(1) - 4, text,
					    sizeof(text)), 0);
	assert_string_equal(text, "abcdef");
	assert_int_equal(memory_read_string(memory, PAGE(1) - 4, text, 7), 0);
	assert_int_equal(memory_read_string(memory, PAGE(1) - 4, text, 6),
			 ERR_TRUNCATED);
	assert_int_equal(memory_read_string(memory, PAGE(9), text, 6),
			 ERR_NOT_FOUND);
}

/* ------- observers ------- */

static void changes_are_told(void **state)
{
	int fd = make_file(4);

	(void)state;
	start(&recording);
	map_named(0, 4, MAY_READ | MAY_WRITE, "x");
	assert_told("map 0-4 3 'x';");
	/* What was there goes without a word. */
	map_file(1, 3, REGION_FILE, fd);
	assert_told("map 1-3 3 'file';doubt 1-3 1;");
	map_file(5, 6, REGION_SHARED, fd);
	assert_told("map 5-6 3 'file';doubt 5-6 2;");
	assert_int_equal(memory_doubt(memory), 2);
	assert_int_equal(memory_protect(memory, PAGE(0), PAGES(2), MAY_READ),
			 0);
	assert_told("protect 0-2 1;");
	assert_int_equal(memory_move(memory, PAGE(1), PAGE(8), PAGES(2)), 0);
	assert_told("move 1-3 8;");
	assert_int_equal(memory_unmap(memory, PAGE(0), PAGES(4)), 0);
	assert_told("unmap 0-4;");
	assert_int_equal(get(9), 'b');
	assert_told("resolve 9 1 62;read 9;");
	assert_int_equal(memory_clear(memory, PAGE(8), PAGES(2)), 0);
	assert_true(!strncmp(told, "clear 8-10;doubt ", 17));
	told[told_size = 0] = 0;
	assert_int_equal(get(8), 'a');
	assert_told("resolve 8 3 61;read 8;");
	close(fd);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "reading and writing", reading_and_writing, NULL);
	add_test(&list, "strings", strings, NULL);
	add_test(&list, "changes are told", changes_are_told, NULL);
	return run_with_end("memory", &list);
}
