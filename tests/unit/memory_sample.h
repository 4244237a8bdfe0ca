/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_sample.h - an address space, small enough to say what is where
 *
 * Addresses are page numbers from BASE on.  `recording` and `replaying` are
 * observers that write down what they are told, for assert_told().  A test
 * begins with start(); end() is its teardown.
 */
#ifndef CPREC_TESTS_UNIT_MEMORY_SAMPLE_H
#define CPREC_TESTS_UNIT_MEMORY_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/told.h"
#include "vm/memory/memory_internal.h"

#define BASE 0x100000u
#define PAGE(n) (BASE + (guest_addr)(n) * GUEST_PAGE)
#define PAGES(n) ((uint64_t)(n) * GUEST_PAGE)
#define NUMBER(n) (PAGE(n) >> GUEST_PAGE_SHIFT)

/* ------- an observer that writes down what it is told ------- */

/* Addresses are told as page numbers from BASE on. */
static inline int page_of(uint64_t addr)
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

static inline void start(const struct memory_observer *observer)
{
	struct failure why;

	told[told_size = 0] = 0;
	reads = writes = 0;
	assert_int_equal(memory_create(&memory, observer, &why), 0);
}

static inline int end(void **state)
{
	(void)state;
	memory_destroy(memory);
	memory = NULL;
	return 0;
}

static inline void map_named(int first, int last, unsigned prot,
			     const char *name)
{
	const struct region region = {
		.start = PAGE(first), .end = PAGE(last), .prot = prot,
		.name = name,
	};

	assert_int_equal(memory_map(memory, &region, -1, NULL), 0);
}

static inline void map(int first, int last, unsigned prot)
{
	map_named(first, last, prot, "");
}

/* A file of pages whose bytes are 'a', 'b', ... */
static inline int make_file(unsigned pages)
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

static inline void map_file(int first, int last, enum region_kind kind, int fd)
{
	const struct region region = {
		.start = PAGE(first), .end = PAGE(last),
		.prot = MAY_READ | MAY_WRITE, .kind = kind, .name = "file",
	};

	assert_int_equal(memory_map(memory, &region, fd, NULL), 0);
}

static inline void put(int page, uint8_t byte)
{
	assert_int_equal(memory_poke(memory, PAGE(page), &byte, 1), 0);
}

static inline unsigned get(int page)
{
	uint8_t byte;

	assert_int_equal(memory_look(memory, PAGE(page), &byte, 1), 0);
	return byte;
}

/* "0-3 rw 'x' 0;": the regions, with their offsets in pages. */
static inline void assert_regions(const char *expected)
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

/* ------- the guest's own accesses ------- */

/*
 * The guest's own access: through the host's address, by a fault; in a replay,
 * where the TLB misses.
 */
static inline uint8_t *host(int page, bool write)
{
	struct mapping *mapping = memory_find(memory, PAGE(page));

	if (memory->asks)
		arena_touch(memory, mapping, mapping_arena(mapping, PAGE(page))
			    >> GUEST_PAGE_SHIFT, write);
	return memory->arena + mapping_arena(mapping, PAGE(page));
}

/* The observer runs inside of the access: the compiler must not know better. */
#define BARRIER() __asm__ volatile("" : : : "memory")

static inline unsigned load(int page)
{
	volatile uint8_t *at = host(page, false);
	unsigned byte;

	BARRIER();
	byte = *at;
	BARRIER();
	return byte;
}

static inline void store(int page, uint8_t byte)
{
	volatile uint8_t *at = host(page, true);

	BARRIER();
	*at = byte;
	BARRIER();
}

/* ------- all tests ------- */

static inline int run_with_end(const char *name, struct test_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->tests[i].teardown_func = end;
	return run_list(name, list);
}

#endif
