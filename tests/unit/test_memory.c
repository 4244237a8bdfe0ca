/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory.c - the guest's address space, and what its observer is told */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/told.h"
#include "vm/memory_internal.h"

#define BASE 0x100000u
#define PAGE(n) (BASE + (guest_addr)(n) * GUEST_PAGE)
#define PAGES(n) ((uint64_t)(n) * GUEST_PAGE)
#define NUMBER(n) (PAGE(n) >> GUEST_PAGE_SHIFT)

/* ------- an observer that writes down what it is told ------- */

/* Addresses are told as page numbers from BASE on. */
static int page_of(uint64_t addr)
{
	return (int)((int64_t)(addr - BASE) / (int)GUEST_PAGE);
}

static unsigned reads, writes;

static void on_first_read(void *context, uint64_t page)
{
	assert_null(context);
	reads++;
	tell("read %d;", page_of(page << GUEST_PAGE_SHIFT));
}

static void on_first_write(void *context, uint64_t page)
{
	assert_null(context);
	writes++;
	tell("write %d;", page_of(page << GUEST_PAGE_SHIFT));
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	assert_null(context);
	tell("resolve %d %u %02x;", page_of(page << GUEST_PAGE_SHIFT),
	     (unsigned)doubt, bytes[0]);
}

static void on_supply(void *context, uint64_t page, uint64_t count,
		      uint8_t *bytes)
{
	assert_null(context);
	for (; count; count--, page++, bytes += GUEST_PAGE) {
		tell("supply %d;", page_of(page << GUEST_PAGE_SHIFT));
		memset(bytes, (int)page, GUEST_PAGE);
	}
}

static void on_mapped(void *context, const struct region *region)
{
	assert_null(context);
	tell("map %d-%d %u '%s';", page_of(region->start),
	     page_of(region->end), region->prot, region->name);
}

static void on_unmapped(void *context, guest_addr addr, uint64_t size)
{
	assert_null(context);
	tell("unmap %d-%d;", page_of(addr), page_of(addr + size));
}

static void on_protected(void *context, guest_addr addr, uint64_t size,
			 unsigned prot)
{
	assert_null(context);
	tell("protect %d-%d %u;", page_of(addr), page_of(addr + size), prot);
}

static void on_moved(void *context, guest_addr from, guest_addr to,
		     uint64_t size)
{
	assert_null(context);
	tell("move %d-%d %d;", page_of(from), page_of(from + size),
	     page_of(to));
}

static void on_cleared(void *context, guest_addr addr, uint64_t size)
{
	assert_null(context);
	tell("clear %d-%d;", page_of(addr), page_of(addr + size));
}

static void on_wrote(void *context, guest_addr addr, uint64_t size)
{
	assert_null(context);
	tell("wrote %#x+%u;", (unsigned)(addr - BASE), (unsigned)size);
}

static void on_doubted(void *context, guest_addr addr, uint64_t size,
		       uint64_t doubt)
{
	assert_null(context);
	tell("doubt %d-%d %u;", page_of(addr), page_of(addr + size),
	     (unsigned)doubt);
}

static const struct memory_observer recording = {
	.first_read = on_first_read, .first_write = on_first_write,
	.resolve = on_resolve, .mapped = on_mapped, .unmapped = on_unmapped,
	.protected = on_protected, .moved = on_moved, .cleared = on_cleared,
	.wrote = on_wrote, .doubted = on_doubted,
};

static const struct memory_observer replaying = {
	.resolve = on_resolve, .supply = on_supply,
};

static struct memory *memory;

static void start(const struct memory_observer *observer)
{
	struct failure why;

	told[told_size = 0] = 0;
	reads = writes = 0;
	assert_int_equal(memory_create(&memory, observer, &why), 0);
}

static int end(void **state)
{
	(void)state;
	memory_destroy(memory);
	memory = NULL;
	return 0;
}

static void map_named(int first, int last, unsigned prot, const char *name)
{
	const struct region region = {
		.start = PAGE(first), .end = PAGE(last), .prot = prot,
		.name = name,
	};

	assert_int_equal(memory_map(memory, &region, -1, NULL), 0);
}

static void map(int first, int last, unsigned prot)
{
	map_named(first, last, prot, "");
}

/* A file of pages whose bytes are 'a', 'b', ... */
static int make_file(unsigned pages)
{
	char path[] = "/tmp/cprec-memory-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	for (unsigned i = 0; i < pages; i++) {
		uint8_t bytes[GUEST_PAGE];

		memset(bytes, (int)('a' + i), sizeof(bytes));
		assert_int_equal(write(fd, bytes, sizeof(bytes)),
				 sizeof(bytes));
	}
	return fd;
}

static void map_file(int first, int last, enum region_kind kind, int fd)
{
	const struct region region = {
		.start = PAGE(first), .end = PAGE(last),
		.prot = MAY_READ | MAY_WRITE, .kind = kind, .name = "file",
	};

	assert_int_equal(memory_map(memory, &region, fd, NULL), 0);
}

static void put(int page, uint8_t byte)
{
	assert_int_equal(memory_poke(memory, PAGE(page), &byte, 1), 0);
}

static unsigned get(int page)
{
	uint8_t byte;

	assert_int_equal(memory_look(memory, PAGE(page), &byte, 1), 0);
	return byte;
}

/* "0-3 rw 'x' 0;": the regions, with their offsets in pages. */
static void assert_regions(const char *expected)
{
	const struct region *regions;
	char text[2000] = "";
	size_t count, size = 0;

	regions = memory_regions(memory, &count);
	for (size_t i = 0; i < count; i++)
		size += (size_t)snprintf(
			text + size, sizeof(text) - size, "%d-%d %u '%s' %u;",
			page_of(regions[i].start), page_of(regions[i].end),
			regions[i].prot, regions[i].name,
			(unsigned)(regions[i].offset >> GUEST_PAGE_SHIFT));
	assert_string_equal(text, expected);
}

/* ------- the address space: one row, one test ------- */

struct change {
	char what;	/* m(ap) u(nmap) p(rotect) M(ove) c(lear) f(ile) S(hared) */
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
		{ .start = (UINT64_C(1) << 47) - GUEST_PAGE,
		  .end = (UINT64_C(1) << 47) + GUEST_PAGE },
		{ .start = UINT64_C(1) << 47,
		  .end = (UINT64_C(1) << 47) + GUEST_PAGE },
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
			.start = BASE, .end = UINT64_C(1) << 47 }, -1, NULL),
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

static void outputs_become_doubtful(void **state)
{
	uint64_t span;

	(void)state;
	start(&recording);
	map(0, 10, MAY_READ | MAY_WRITE);
	told[told_size = 0] = 0;
	/* Small: told at once. */
	assert_non_null(memory_at(memory, PAGE(0) + 8, PAGES(3), MEMORY_OUT,
				  &span));
	assert_true(span == PAGES(3));
	told[told_size = 0] = 0;
	memory_wrote(memory, PAGE(0) + 8, PAGES(3));
	assert_told("wrote 0x8+12288;");
	/* Large: whole pages are doubtful, the rest is told. */
	assert_non_null(memory_at(memory, PAGE(1) - 2, PAGES(6) + 5,
				  MEMORY_OUT, &span));
	told[told_size = 0] = 0;
	memory_wrote(memory, PAGE(1) - 2, PAGES(6) + 5);
	assert_told("wrote 0xffe+2;doubt 1-7 1;wrote 0x7000+3;");
	assert_int_equal(memory_page_doubt(memory, NUMBER(1)), 1);
	assert_int_equal(memory_page_doubt(memory, NUMBER(7)), 0);
	assert_null(memory_peek(memory, NUMBER(2)));
	assert_int_equal(get(2), 0);
	assert_told("resolve 2 1 00;");
	assert_int_equal(get(2), 0);
	assert_told("");
	assert_non_null(memory_peek(memory, NUMBER(2)));
	/* What may not be written, or is not there. */
	assert_null(memory_at(memory, PAGE(10), 1, MEMORY_OUT, &span));
	assert_int_equal(memory_protect(memory, PAGE(9), PAGES(1), MAY_READ),
			 0);
	assert_null(memory_at(memory, PAGE(9), 1, MEMORY_OUT, &span));
	assert_non_null(memory_at(memory, PAGE(8) + 1, PAGES(2), MEMORY_OUT,
				  &span));
	assert_true(span == GUEST_PAGE - 1);
}

/* ------- doubts ------- */

static void on_range(void *context, uint64_t page, uint64_t count,
		     uint64_t doubt)
{
	assert_ptr_equal(context, &told);
	tell("%d+%u %u;", page_of(page << GUEST_PAGE_SHIFT), (unsigned)count,
	     (unsigned)doubt);
}

static void doubt_ranges(void **state)
{
	(void)state;
	start(&replaying);
	map(0, 8, MAY_READ);
	map(10, 12, MAY_READ);
	assert_int_equal(memory_set_doubtful(memory, PAGE(1), PAGES(4), 3), 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(3), PAGES(1), 5), 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(11), PAGES(1), 4),
			 0);
	assert_int_equal(memory_set_doubtful(memory, PAGE(7), PAGES(4), 9),
			 ERR_NOT_FOUND);
	assert_int_equal(memory_doubt(memory), 5);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+2 3;3+1 5;4+1 3;11+1 4;");
	/* It moves along. */
	assert_int_equal(memory_move(memory, PAGE(2), PAGE(20), PAGES(2)), 0);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+1 3;4+1 3;11+1 4;20+1 3;21+1 5;");
	assert_int_equal(get(21), 0);
	assert_told("resolve 21 5 00;");
	assert_int_equal(memory_clear(memory, PAGE(20), PAGES(1)), 0);
	map(11, 12, MAY_READ);
	assert_int_equal(memory_unmap(memory, PAGE(4), PAGES(1)), 0);
	memory_each_doubt(memory, on_range, &told);
	assert_told("1+1 3;");
	memory_set_doubt(memory, 77);
	assert_int_equal(memory_doubt(memory), 77);
}

/* ------- tracking ------- */

/* The guest's own access: through the host's address, by a fault. */
static uint8_t *host(int page)
{
	struct mapping *mapping = memory_find(memory, PAGE(page));

	return memory->arena + mapping_arena(mapping, PAGE(page));
}

/* The observer runs inside of the access: the compiler must not know better. */
#define BARRIER() __asm__ volatile("" : : : "memory")

static unsigned load(int page)
{
	volatile uint8_t *at = host(page);
	unsigned byte;

	BARRIER();
	byte = *at;
	BARRIER();
	return byte;
}

static void store(int page, uint8_t byte)
{
	volatile uint8_t *at = host(page);

	BARRIER();
	*at = byte;
	BARRIER();
}

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
	memory_arm(memory);
	assert_told("");
	/* Written before: what is read is taken for written. */
	load(5);
	assert_told("write 5;");
	store(5, 4);
	assert_told("");
	assert_int_equal(load(20), 3);
	assert_told("write 20;");
	/* Untouched for a whole segment: forgotten. */
	memory_arm(memory);
	memory_arm(memory);
	assert_int_equal(load(5), 4);
	assert_told("read 5;");
	store(100, 1);
	assert_told("write 100;");
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
	memory_arm(memory);
	writes = reads = 0;
	for (int i = 63; i >= 0; i--)
		assert_int_equal(load(i), i);
	assert_int_equal(writes, 64);
	assert_int_equal(reads, 0);
	/* One alone, then far from it. */
	memory_arm(memory);
	memory_arm(memory);
	writes = 0;
	store(10, 1);
	assert_int_equal(writes, 1);
	store(30, 1);
	assert_int_equal(writes, 2);
	memory_arm(memory);
	writes = 0;
	store(30, 2);
	assert_int_equal(writes, 1);
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
		reads = writes = 0;
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

static void assert_kept(int page, int expected)
{
	uint8_t bytes[GUEST_PAGE];
	bool kept = memory_kept(memory, NUMBER(page), bytes);

	assert_int_equal(kept ? bytes[0] : -1, expected);
}

/* What was known of pages that others may have changed since. */
static void kept_pages(void **state)
{
	(void)state;
	start(&replaying);
	map(0, 6, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_set_doubtful(memory, PAGE(5), PAGES(1), 2), 0);
	memory_set_absent(memory);
	put(0, 9);
	told[told_size = 0] = 0;
	assert_kept(0, -1);		/* it is known */
	assert_int_equal(memory_doubt_kept(memory, PAGE(0), PAGES(6), 3), 0);
	assert_int_equal(memory_page_doubt(memory, NUMBER(0)), 3);
	assert_null(memory_peek(memory, NUMBER(0)));
	assert_kept(0, 9);
	assert_told("");
	/* What is absent is supplied, once; what was doubtful is not known. */
	assert_kept(1, (uint8_t)NUMBER(1));
	assert_told("supply 1;");
	assert_kept(1, (uint8_t)NUMBER(1));
	assert_kept(5, -1);
	assert_told("");
	assert_int_equal(memory_page_doubt(memory, NUMBER(1)), 3);
	/* Doubtful again, without having been known. */
	assert_int_equal(memory_doubt_kept(memory, PAGE(1), PAGES(1), 4), 0);
	assert_kept(1, -1);
	/* Touched, of which it need not be supplied any more. */
	load(2);
	assert_true(!strncmp(told, "resolve 2 3 ", 12));
	assert_null(strstr(told, "supply"));
	assert_kept(2, -1);
	put(2, 7);
	assert_int_equal(memory_doubt_kept(memory, PAGE(2), PAGES(1), 5), 0);
	assert_kept(2, 7);
	/* Mapped anew, or somewhere else. */
	assert_int_equal(memory_move(memory, PAGE(2), PAGE(10), PAGES(1)), 0);
	assert_kept(10, 7);
	assert_kept(2, -1);
	map(10, 11, MAY_READ);
	assert_kept(10, -1);
	assert_int_equal(memory_set_doubtful(memory, PAGE(0), PAGES(1), 6), 0);
	assert_kept(0, -1);
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
	add_test(&list, "the heap grows", heap_grows, NULL);
	add_test(&list, "names are kept", names_are_kept, NULL);
	add_test(&list, "places that do not work", places_that_do_not_work,
		 NULL);
	add_test(&list, "space is reused", space_is_reused, NULL);
	add_test(&list, "reading and writing", reading_and_writing, NULL);
	add_test(&list, "strings", strings, NULL);
	add_test(&list, "changes are told", changes_are_told, NULL);
	add_test(&list, "outputs become doubtful", outputs_become_doubtful,
		 NULL);
	add_test(&list, "ranges of doubt", doubt_ranges, NULL);
	add_test(&list, "touches are told once", touches_are_told_once, NULL);
	add_test(&list, "neighbours are told along", neighbours_are_told_along,
		 NULL);
	add_test(&list, "more touches than mappings", many_touches, NULL);
	add_test(&list, "more supplies than mappings", many_supplies, NULL);
	add_test(&list, "absent pages", absent_pages, NULL);
	add_test(&list, "pages ahead", pages_ahead, NULL);
	add_test(&list, "kept pages", kept_pages, NULL);
	for (size_t i = 0; i < list.count; i++)
		list.tests[i].teardown_func = end;
	return run_list("memory", &list);
}
