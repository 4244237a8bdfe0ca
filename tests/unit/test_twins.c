/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_twins.c - pages that are mapped at several addresses */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/told.h"
#include "vm/memory/memory_internal.h"

#define BASE 0x100000u
#define PAGE(n) (BASE + (guest_addr)(n) * GUEST_PAGE)

/* ------- what the observer is told ------- */

static void name(char *text, size_t room, guest_addr addr)
{
	bool common = addr >= COMMON_START;

	addr &= ~(guest_addr)(GUEST_PAGE - 1);
	snprintf(text, room, "%s%d", common ? "c" : "",
		 common ? (int)((GUEST_ADDR_END - addr) >> GUEST_PAGE_SHIFT) :
			  (int)((addr - BASE) >> GUEST_PAGE_SHIFT));
}

static void tell_range(const char *what, guest_addr addr, uint64_t size)
{
	char at[16];

	name(at, sizeof(at), addr);
	tell("%s %s+%d;", what, at, (int)(size >> GUEST_PAGE_SHIFT));
}

static void on_mapped(void *context, const struct region *region)
{
	(void)context;
	tell_range(region->common ? "alias" : "map", region->start,
	     region->end - region->start);
}

static void on_unmapped(void *context, guest_addr addr, uint64_t size)
{
	(void)context;
	tell_range("unmap", addr, size);
}

static void on_doubted(void *context, guest_addr addr, uint64_t size,
		       uint64_t doubt)
{
	(void)context;
	(void)doubt;
	tell_range("doubt", addr, size);
}

static void on_wrote(void *context, guest_addr addr, uint64_t size)
{
	char at[16];

	(void)context;
	name(at, sizeof(at), addr);
	tell("wrote %s %d;", at, (int)size);
}

static void on_touch(void *context, uint64_t page)
{
	(void)context;
	(void)page;
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	(void)context;
	(void)doubt;
	(void)bytes;
	tell_range("resolve", page << GUEST_PAGE_SHIFT, GUEST_PAGE);
}

static const struct memory_observer observer = {
	.first_read = on_touch,
	.first_write = on_touch,
	.resolve = on_resolve,
	.mapped = on_mapped,
	.unmapped = on_unmapped,
	.doubted = on_doubted,
	.wrote = on_wrote,
};

/* ------- a memory and a file ------- */

static struct memory *memory;
static int fd;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(memory_create(&memory, &observer, NULL), 0);
	fd = memfd_create("twins", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, 16 * GUEST_PAGE), 0);
	told[told_size = 0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	memory_destroy(memory);
	close(fd);
	return 0;
}

static void map(int page, int count, int first)
{
	const struct region region = {
		.start = PAGE(page), .end = PAGE(page + count),
		.prot = MAY_READ | MAY_WRITE, .kind = REGION_SHARED,
		.offset = (uint64_t)first * GUEST_PAGE, .name = "file",
	};

	assert_int_equal(memory_map(memory, &region, fd, NULL), 0);
}

static void unmap(int page, int count)
{
	assert_int_equal(memory_unmap(memory, PAGE(page),
				      (uint64_t)count * GUEST_PAGE), 0);
}

static void store(int page, char value)
{
	assert_int_equal(memory_store(memory, PAGE(page) + 5, &value, 1), 0);
}

static char load(int page)
{
	char value;

	assert_int_equal(memory_load(memory, PAGE(page) + 5, &value, 1), 0);
	return value;
}

/* ------- tests ------- */

static void two_mappings(void **state)
{
	(void)state;
	map(0, 2, 0);
	assert_told("map 0+2;doubt 0+2;");
	store(0, 'a');
	assert_told("resolve 0+1;");
	map(10, 2, 0);
	assert_told("map c2+2;alias 0+2;doubt c2+2;alias 10+2;");
	assert_int_equal(load(10), 'a');
	assert_told("resolve c2+1;");
	store(10, 'b');
	assert_int_equal(load(0), 'b');
	assert_told("");
	assert_true(memory_home(memory, PAGE(11)) ==
		    GUEST_ADDR_END - GUEST_PAGE);
	assert_true(memory_home(memory, PAGE(0)) ==
		    memory_home(memory, PAGE(10)));
	assert_ptr_equal(memory_peek(memory, PAGE(0) >> GUEST_PAGE_SHIFT),
			 memory_peek(memory, PAGE(10) >> GUEST_PAGE_SHIFT));
	/* A third one changes nothing for them. */
	map(20, 2, 0);
	assert_told("alias 20+2;");
	assert_int_equal(load(20), 'b');
	assert_told("");
}

static void the_kernel_writes(void **state)
{
	(void)state;
	map(0, 1, 0);
	map(10, 1, 0);
	load(0);
	told[told_size = 0] = '\0';
	assert_int_equal(memory_write(memory, PAGE(10) + 5, "xyz", 3), 0);
	assert_told("wrote c1 3;");
	assert_int_equal(load(0), 'x');
}

static void the_last_one_goes(void **state)
{
	(void)state;
	map(0, 3, 0);
	map(10, 3, 0);
	store(1, 'a');
	told[told_size = 0] = '\0';
	unmap(0, 3);
	assert_told("unmap 0+3;");
	assert_int_equal(load(11), 'a');
	assert_told("");
	unmap(11, 1);
	assert_told("unmap 11+1;unmap c2+1;");
	map(10, 3, 0);
	assert_told("unmap 10+3;unmap c1+1;unmap c3+1;map 10+3;doubt 10+3;");
	assert_int_equal(load(11), 'a');
}

static void parts(void **state)
{
	(void)state;
	map(0, 3, 2);
	told[told_size = 0] = '\0';
	map(10, 8, 0);
	assert_told("map 10+2;doubt 10+2;map c3+3;alias 0+3;doubt c3+3;alias 12+3;"
	       "map 15+3;doubt 15+3;");
	store(0, 'a');
	store(17, 'b');
	assert_int_equal(load(12), 'a');
	assert_true(memory_home(memory, PAGE(10)) == PAGE(10));
	assert_true(memory_home(memory, PAGE(17)) == PAGE(17));
}

static void moved_and_protected(void **state)
{
	char byte;

	(void)state;
	map(0, 2, 0);
	map(10, 2, 0);
	store(0, 'a');
	assert_int_equal(memory_move(memory, PAGE(0), PAGE(30),
				     2 * GUEST_PAGE), 0);
	store(30, 'b');
	assert_int_equal(load(10), 'b');
	assert_int_equal(memory_protect(memory, PAGE(10), GUEST_PAGE, 0), 0);
	assert_int_equal(memory_read(memory, PAGE(10), &byte, 1),
			 ERR_NOT_FOUND);
	assert_int_equal(load(30), 'b');
	assert_int_equal(memory_look(memory, PAGE(10) + 5, &byte, 1), 0);
	assert_int_equal(byte, 'b');
}

/* As a replay of hostile bytes may want it. */
static void what_cannot_be(void **state)
{
	const struct region common = {
		.start = COMMON_START, .end = COMMON_START + 2 * GUEST_PAGE,
		.kind = REGION_SHARED, .name = "",
	};
	struct region region = {
		.start = PAGE(0), .end = PAGE(2), .prot = MAY_READ,
		.kind = REGION_SHARED, .name = "",
		.common = COMMON_START + GUEST_PAGE,
	};

	(void)state;
	assert_true(memory_map(memory, &region, -1, NULL) < 0);
	assert_int_equal(memory_map(memory, &common, -1, NULL), 0);
	assert_true(memory_map(memory, &region, -1, NULL) < 0);
	region.common = COMMON_START;
	assert_int_equal(memory_map(memory, &region, -1, NULL), 0);
	/* Its pages cannot go, neither in whole nor in part. */
	assert_true(memory_unmap(memory, COMMON_START, GUEST_PAGE) < 0);
	assert_true(memory_map(memory, &common, -1, NULL) < 0);
	assert_true(memory_move(memory, COMMON_START,
				COMMON_START + 16 * GUEST_PAGE,
				GUEST_PAGE) < 0);
	/* No alias of an alias, or in the place of common pages. */
	region.common = PAGE(0);
	region.start = PAGE(10);
	region.end = PAGE(12);
	assert_true(memory_map(memory, &region, -1, NULL) < 0);
	region.common = COMMON_START;
	region.start = COMMON_START + 8 * GUEST_PAGE;
	region.end = region.start + GUEST_PAGE;
	assert_true(memory_map(memory, &region, -1, NULL) < 0);
	unmap(0, 2);
	assert_null(memory_region_at(memory, COMMON_START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_mappings, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_kernel_writes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_last_one_goes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(moved_and_protected, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
