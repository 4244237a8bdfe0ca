/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_mappings.c - what is mapped where */
#include "formats/error.h"
#include "tests/unit/memory_sample.h"

/* ------- the address space: one row, one test ------- */

struct change {
	char what;	/* m(ap) u(nmap) p(rotect) M(ove) c(lear) f(ile) */
	int first, last;
	unsigned prot;	/* or where to */
	int rc;
};

struct space_row {
	const char *name;
	struct change changes[8];
	const char *regions;
	/* The first byte of each page: '.' is not mapped.  Before each change
	 * all mapped pages are given new letters, '0' is zero. */
	const char *contents;
};

static const struct space_row space_rows[] = {
	{ "nothing", { { 0 } }, "", "........" },
	{ "one mapping", { { 'm', 1, 3, 3 } }, "1-3 3 '' 0;", ".00....." },
	{ "neighbours join", { { 'm', 1, 2, 3 }, { 'm', 2, 3, 3 } },
	  "1-3 3 '' 0;", ".b0....." },
	{ "neighbours that differ do not",
	  { { 'm', 1, 2, 3 }, { 'm', 2, 3, 1 } },
	  "1-2 3 '' 0;2-3 1 '' 0;", ".b0....." },
	{ "mapped over the middle", { { 'm', 0, 6, 3 }, { 'm', 2, 4, 1 } },
	  "0-2 3 '' 0;2-4 1 '' 0;4-6 3 '' 0;", "ab00ef.." },
	{ "mapped over several",
	  { { 'm', 0, 2, 3 }, { 'm', 3, 5, 1 }, { 'm', 1, 4, 5 } },
	  "0-1 3 '' 0;1-4 5 '' 0;4-5 1 '' 0;", "a000e..." },
	{ "a hole", { { 'm', 0, 6, 3 }, { 'u', 2, 3 } },
	  "0-2 3 '' 0;3-6 3 '' 0;", "ab.def.." },
	{ "a hole that is filled",
	  { { 'm', 0, 6, 3 }, { 'u', 2, 3 }, { 'm', 2, 3, 3 } },
	  NULL, "ab0def.." },
	{ "unmapping what is not there", { { 'm', 2, 3, 3 }, { 'u', 0, 8 } },
	  "", "........" },
	{ "protecting splits", { { 'm', 0, 6, 3 }, { 'p', 2, 4, 1 } },
	  "0-2 3 '' 0;2-4 1 '' 0;4-6 3 '' 0;", "abcdef.." },
	{ "and joins",
	  { { 'm', 0, 6, 3 }, { 'p', 2, 4, 1 }, { 'p', 1, 5, 3 } },
	  "0-6 3 '' 0;", "abcdef.." },
	{ "protecting a hole",
	  { { 'm', 0, 6, 3 }, { 'u', 2, 3 },
	    { 'p', 0, 6, 1, ERR_NOT_FOUND } },
	  "0-2 3 '' 0;3-6 3 '' 0;", "ab.def.." },
	{ "moving", { { 'm', 0, 2, 3 }, { 'M', 0, 2, 5 } },
	  "5-7 3 '' 0;", ".....ab." },
	{ "moving the middle", { { 'm', 0, 4, 3 }, { 'M', 1, 3, 5 } },
	  "0-1 3 '' 0;3-4 3 '' 0;5-7 3 '' 0;", "a..d.bc." },
	{ "moving over something",
	  { { 'm', 0, 2, 3 }, { 'm', 4, 8, 1 }, { 'M', 0, 2, 5 } },
	  "4-5 1 '' 0;5-7 3 '' 0;7-8 1 '' 0;", "....eabh" },
	{ "moving down", { { 'm', 4, 8, 3 }, { 'M', 5, 7, 1 } },
	  "1-3 3 '' 0;4-5 3 '' 0;7-8 3 '' 0;", ".fg.e..h" },
	{ "moving two mappings",
	  { { 'm', 0, 1, 3 }, { 'm', 1, 2, 1 }, { 'M', 0, 2, 4 } },
	  "4-5 3 '' 0;5-6 1 '' 0;", "....ab.." },
	{ "moving onto itself",
	  { { 'm', 0, 3, 3 }, { 'M', 0, 2, 1, ERR_NOT_FOUND } },
	  "0-3 3 '' 0;", "abc....." },
	{ "moving a hole",
	  { { 'm', 0, 1, 3 }, { 'M', 0, 2, 4, ERR_NOT_FOUND } },
	  "0-1 3 '' 0;", "a......." },
	{ "there and back", { { 'm', 0, 4, 3 }, { 'M', 1, 3, 5 },
			      { 'M', 5, 7, 1 } },
	  "0-4 3 '' 0;", "afgd...." },
	{ "clearing", { { 'm', 0, 4, 3 }, { 'c', 1, 3 } },
	  "0-4 3 '' 0;", "a00d...." },
	{ "clearing across mappings",
	  { { 'm', 0, 2, 3 }, { 'm', 2, 4, 1 }, { 'c', 1, 3 } },
	  "0-2 3 '' 0;2-4 1 '' 0;", "a00d...." },
	{ "clearing a hole",
	  { { 'm', 0, 1, 3 }, { 'c', 0, 2, 0, ERR_NOT_FOUND } },
	  "0-1 3 '' 0;", "a......." },
	{ "a file", { { 'f', 0, 3 } }, "0-3 3 'file' 0;", "abc....." },
	{ "a file's offsets",
	  { { 'f', 0, 4 }, { 'u', 1, 2 }, { 'p', 3, 4, 1 } },
	  "0-1 3 'file' 0;2-3 3 'file' 2;3-4 1 'file' 3;", "a.cd...." },
	{ "a file moved", { { 'f', 0, 4 }, { 'M', 1, 3, 5 } },
	  "0-1 3 'file' 0;3-4 3 'file' 3;5-7 3 'file' 1;", "a..d.bc." },
	{ "a file cleared is as in the file",
	  { { 'f', 0, 4 }, { 'p', 0, 4, 3 }, { 'c', 1, 3 } },
	  "0-4 3 'file' 0;", "abcd...." },
	{ "an empty range", { { 'm', 0, 2, 3 }, { 'u', 1, 1, 0,
						  ERR_NOT_FOUND } },
	  "0-2 3 '' 0;", "ab......" },
};

static void give_letters(void)
{
	for (int i = 0; i < 8; i++)
		if (memory_region_at(memory, PAGE(i)))
			put(i, (uint8_t)('a' + i));
}

static int make_change(const struct change *change, int fd)
{
	uint64_t size = PAGES(change->last - change->first);
	guest_addr addr = PAGE(change->first);

	switch (change->what) {
	case 'm':
		map(change->first, change->last, change->prot);
		return 0;
	case 'f':
		map_file(change->first, change->last, REGION_FILE, fd);
		return 0;
	case 'u':
		return memory_unmap(memory, addr, size);
	case 'p':
		return memory_protect(memory, addr, size, change->prot);
	case 'M':
		return memory_move(memory, addr, PAGE(change->prot), size);
	default:
		return memory_clear(memory, addr, size);
	}
}

/* All rows without an observer, while recording and while replaying. */
static void space(const struct space_row *row,
		  const struct memory_observer *observer)
{
	int fd = make_file(4);

	start(observer);
	for (size_t i = 0; row->changes[i].what; i++) {
		give_letters();
		assert_int_equal(make_change(&row->changes[i], fd),
				 row->changes[i].rc);
		if (observer == &recording && i % 2)
			memory_arm(memory);
	}
	close(fd);
	if (row->regions)
		assert_regions(row->regions);
	for (int i = 0; i < 8; i++) {
		const struct region *region = memory_region_at(memory, PAGE(i));

		assert_int_equal(row->contents[i] == '.', !region);
		if (!region)
			assert_true(memory_look(memory, PAGE(i), &fd, 1) ==
				    ERR_NOT_FOUND);
		else
			assert_int_equal(get(i), row->contents[i] == '0' ?
					 0 : row->contents[i]);
	}
}

static void space_plain(void **state)
{
	space(*state, NULL);
}

static void space_recording(void **state)
{
	space(*state, &recording);
}

static void space_replaying(void **state)
{
	space(*state, &replaying);
}

/* ------- places ------- */

static void gaps(void **state)
{
	(void)state;
	start(NULL);
	assert_true(memory_find_gap(memory, PAGES(2), PAGE(0), PAGE(8)) ==
		    PAGE(6));
	map(6, 7, MAY_READ);
	map(2, 4, MAY_READ);
	assert_true(memory_find_gap(memory, PAGES(1), PAGE(0), PAGE(8)) ==
		    PAGE(7));
	assert_true(memory_find_gap(memory, PAGES(2), PAGE(0), PAGE(8)) ==
		    PAGE(4));
	assert_true(memory_find_gap(memory, PAGES(2), PAGE(0), PAGE(5)) ==
		    PAGE(0));
	assert_true(memory_find_gap(memory, PAGES(1), PAGE(0), PAGE(5)) ==
		    PAGE(4));
	assert_true(memory_find_gap(memory, PAGES(3), PAGE(0), PAGE(8)) == 0);
	assert_true(memory_find_gap(memory, PAGES(2), PAGE(1), PAGE(4)) == 0);
	/* The top lies inside a mapping. */
	assert_true(memory_find_gap(memory, PAGES(1), PAGE(0), PAGE(3)) ==
		    PAGE(1));
	/* All of it is in use. */
	assert_true(memory_find_gap(memory, PAGES(1), PAGE(2), PAGE(4)) == 0);
}

/* The same by looking at each page. */
static guest_addr simple_gap(uint64_t size, guest_addr bottom, guest_addr top)
{
	uint64_t free = 0;

	for (guest_addr at = top; at > bottom;) {
		at -= GUEST_PAGE;
		free = memory_region_at(memory, at) ? 0 : free + GUEST_PAGE;
		if (free == size)
			return at;
	}
	return 0;
}

static void change_at_random(uint64_t *seed)
{
	int first, size;
	uint64_t number;

	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	number = *seed >> 33;
	first = (int)(number % 200);
	size = 1 + (int)(number / 200 % 17);
	switch (number / 3400 % 4) {
	case 0:
		memory_unmap(memory, PAGE(first), PAGES(size));
		break;
	case 1:
		memory_move(memory, PAGE(first), PAGE(230 - first),
			    PAGES(1));
		break;
	default:
		map(first, first + size, number % 2 ? MAY_READ : MAY_WRITE);
	}
}

static void gaps_after_changes(void **state)
{
	uint64_t seed = 1;

	(void)state;
	start(NULL);
	for (int i = 0; i < 3000; i++) {
		guest_addr bottom = PAGE(i % 3 * 20);
		guest_addr top = PAGE(i % 50 ? 220 : 100);
		uint64_t size = PAGES(1 + i * 7 % 23), mapped = 0;
		const struct region *regions;
		size_t count;

		change_at_random(&seed);
		/* Mostly as programs do: where there is room. */
		if (i % 2)
			map(200 + i % 20, 201 + i % 20, MAY_READ);
		assert_true(memory_find_gap(memory, size, bottom, top) ==
			    simple_gap(size, bottom, top));
		regions = memory_regions(memory, &count);
		for (size_t j = 0; j < count; j++)
			mapped += regions[j].end - regions[j].start;
		assert_true(memory_size(memory) == mapped);
		if (i % 200 == 0)
			memory_unmap(memory, PAGE(0), PAGES(240));
	}
}

static void heap_grows(void **state)
{
	(void)state;
	start(NULL);
	for (int i = 0; i < 50; i++) {
		map_named(i, i + 1, MAY_READ | MAY_WRITE, "[heap]");
		put(i, (uint8_t)(i + 1));
		/* Others are mapped in between. */
		map(1000 + 2 * i, 1001 + 2 * i, MAY_READ);
	}
	assert_true(memory_region_at(memory, PAGE(25))->start == PAGE(0));
	assert_true(memory_region_at(memory, PAGE(0))->end == PAGE(50));
	/* It shrinks and grows again: zeros. */
	assert_int_equal(memory_unmap(memory, PAGE(20), PAGES(30)), 0);
	map_named(20, 22, MAY_READ | MAY_WRITE, "[heap]");
	assert_int_equal(get(19), 20);
	assert_int_equal(get(20), 0);
	assert_true(memory_region_at(memory, PAGE(0))->end == PAGE(22));
}

static void names_are_kept(void **state)
{
	char name[] = "one";

	(void)state;
	start(NULL);
	map_named(0, 1, MAY_READ, name);
	map_named(1, 2, MAY_READ, "one");
	name[0] = 'x';
	map_named(2, 3, MAY_READ, name);
	assert_regions("0-2 1 'one' 0;2-3 1 'xne' 0;");
	/* Many, and the same again. */
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i % 50);
		map_named(4 + i, 5 + i, MAY_READ, name);
	}
	assert_string_equal(memory_region_at(memory, PAGE(4 + 73))->name,
			    "23");
}

static void places_that_do_not_work(void **state)
{
	static const struct region bad[] = {
		{ .start = BASE + 1, .end = BASE + 1 + GUEST_PAGE },
		{ .start = BASE, .end = BASE },
		{ .start = BASE, .end = BASE + 7 },
		{ .start = (UINT64_C(1) << 48) - GUEST_PAGE,
		  .end = (UINT64_C(1) << 48) + GUEST_PAGE },
		{ .start = UINT64_C(1) << 48,
		  .end = (UINT64_C(1) << 48) + GUEST_PAGE },
		{ .start = ~(uint64_t)(GUEST_PAGE - 1), .end = 0 },
		{ .start = BASE, .end = 0 },
	};

	(void)state;
	start(NULL);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_true(memory_map(memory, &bad[i], -1, NULL) < 0);
		assert_true(memory_unmap(memory, bad[i].start,
					 bad[i].end - bad[i].start) < 0);
	}
	/* More than there is. */
	assert_int_equal(memory_map(memory, &(struct region){
			.start = BASE, .end = UINT64_C(1) << 48 }, -1, NULL),
			 ERR_NO_MEMORY);
	assert_regions("");
}

/* What is given back is used again. */
static void space_is_reused(void **state)
{
	uint64_t used;

	(void)state;
	start(NULL);
	for (int i = 0; i < 20; i++)
		map(2 * i, 2 * i + 1, MAY_READ | MAY_WRITE);
	used = memory->used;
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 20; i++) {
			put(2 * i, 9);
			assert_int_equal(memory_unmap(memory, PAGE(2 * i),
						      PAGES(1)), 0);
			map(2 * i, 2 * i + 1, MAY_READ | MAY_WRITE);
			assert_int_equal(get(2 * i), 0);
		}
	assert_true(memory->used == used);
}

int main(void)
{
	static struct test_list list;
	static char names[2 * COUNT(space_rows)][80];

	for (size_t i = 0; i < COUNT(space_rows); i++) {
		const struct space_row *row = &space_rows[i];

		snprintf(names[2 * i], 80, "%s, recorded", row->name);
		snprintf(names[2 * i + 1], 80, "%s, replayed", row->name);
		add_test(&list, row->name, space_plain, row);
		add_test(&list, names[2 * i], space_recording, row);
		add_test(&list, names[2 * i + 1], space_replaying, row);
	}
	add_test(&list, "gaps", gaps, NULL);
	add_test(&list, "gaps after changes", gaps_after_changes, NULL);
	add_test(&list, "the heap grows", heap_grows, NULL);
	add_test(&list, "names are kept", names_are_kept, NULL);
	add_test(&list, "places that do not work", places_that_do_not_work,
		 NULL);
	add_test(&list, "space is reused", space_is_reused, NULL);
	return run_with_end("mappings", &list);
}
