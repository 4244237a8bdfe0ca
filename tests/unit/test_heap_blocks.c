/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_heap_blocks.c - blocks at random against a byte for each byte of a heap;
 * names of allocators' functions
 */
#include "replayer/session/heap_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "replayer/session/heap_functions.h"
#include "tests/unit/table.h"

/* ------- blocks ------- */

#define BASE UINT64_C(0x7ffff7000000)
#define PAGES 24u
#define BYTES (PAGES * GUEST_PAGE)
#define SLOTS 60u
#define TURNS 20000u

/* What is known of each byte. */
struct model {
	uint8_t is_live[BYTES], is_forbidden[BYTES], is_heap[PAGES];
};

struct slot {
	guest_addr addr;
	uint64_t size;
	bool is_used;
};

static uint32_t seed;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void forbid(struct model *model, int64_t first, int64_t end)
{
	for (int64_t i = first; i < end; i++)
		if (i >= 0 && i < BYTES && !model->is_live[i] &&
		    model->is_heap[i / GUEST_PAGE])
			model->is_forbidden[i] = 1;
}

static void model_add(struct model *model, const struct slot *slot)
{
	int64_t first = (int64_t)(slot->addr - BASE);
	int64_t end = first + (int64_t)slot->size;

	for (int64_t i = first; i < end; i++) {
		model->is_heap[i / GUEST_PAGE] = 1;
		model->is_live[i] = 1;
		model->is_forbidden[i] = 0;
	}
	forbid(model, first - HEAP_ZONE_BEFORE, first);
	forbid(model, end, end + HEAP_ZONE_BEHIND);
}

static void model_free(struct model *model, const struct slot *slot)
{
	size_t first = (size_t)(slot->addr - BASE);

	memset(model->is_live + first, 0, slot->size);
	memset(model->is_forbidden + first, 1, slot->size);
}

static void model_unmap(struct model *model, uint32_t page, uint32_t count)
{
	memset(model->is_forbidden + page * GUEST_PAGE, 0, count * GUEST_PAGE);
	memset(model->is_heap + page, 0, count);
}

static bool is_free(const struct slot *slots, guest_addr addr, uint64_t size)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].is_used && addr < slots[i].addr + slots[i].size +
							1 &&
		    slots[i].addr < addr + size + 1)
			return false;
	return true;
}

static bool has_pages(const struct slot *slots, uint32_t page, uint32_t count)
{
	return !is_free(slots, BASE + page * GUEST_PAGE, count * GUEST_PAGE);
}

static void compare(struct heap_blocks *blocks, const struct model *model)
{
	guest_addr first;
	uint64_t count;
	size_t at = next(BYTES - 64), size = 1 + next(64), found = 0;
	size_t expected = BYTES;

	for (size_t i = at; i < at + size; i++) {
		if (model->is_forbidden[i] && !found++)
			expected = i;
	}
	assert_int_equal(heap_shadow_finds(&blocks->shadow, BASE + at, size,
					   &first, &count), found != 0);
	assert_int_equal(count, found);
	if (found)
		assert_int_equal(first, BASE + expected);
}

static int sum(void *context, const struct heap_block *block)
{
	uint64_t *bytes = context;

	/* By address, without overlaps. */
	assert_true(block->addr >= bytes[1]);
	bytes[1] = block->addr + block->size;
	bytes[0] += block->size;
	bytes[2]++;
	return 0;
}

static void use(struct heap_blocks *blocks, struct model *model,
		struct slot *slots, struct slot *slot)
{
	const struct heap_site site = { .function = "free" };
	struct heap_block block = { .allocated.function = "malloc" };

	if (slot->is_used) {
		struct heap_block *found = heap_blocks_find(blocks, slot->addr);

		assert_non_null(found);
		assert_int_equal(found->addr, slot->addr);
		assert_int_equal(found->size, slot->size);
		assert_null(found->freed.function);
		assert_int_equal(heap_blocks_free(blocks, found, &site), 0);
		model_free(model, slot);
		slot->is_used = false;
		return;
	}
	slot->size = next(8) ? next(200) : next(3 * GUEST_PAGE);
	slot->addr = BASE + next(BYTES - (uint32_t)slot->size) / 16 * 16;
	if (!is_free(slots, slot->addr, slot->size))
		return;
	slot->is_used = true;
	block.addr = slot->addr;
	block.size = slot->size;
	assert_int_equal(heap_blocks_add(blocks, &block), 0);
	model_add(model, slot);
}

static void blocks_at_random(void **state)
{
	struct heap_blocks blocks = { 0 };
	struct model *model = calloc(1, sizeof(*model));
	struct slot slots[SLOTS] = { 0 };

	(void)state;
	seed = 1;
	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint64_t bytes[3] = { 0 };
		uint32_t page = next(PAGES - 3), count = 1 + next(3);

		use(&blocks, model, slots, &slots[next(SLOTS)]);
		if (!next(20) && !has_pages(slots, page, count)) {
			assert_int_equal(heap_blocks_unmap(
				&blocks, BASE + page * GUEST_PAGE,
				count * GUEST_PAGE), 0);
			model_unmap(model, page, count);
		}
		compare(&blocks, model);
		if (turn % 100)
			continue;
		heap_blocks_each(&blocks, sum, bytes);
		assert_int_equal(bytes[0], blocks.bytes);
		assert_int_equal(bytes[2], blocks.count);
	}
	heap_blocks_release(&blocks);
	free(model);
}

static void add(struct heap_blocks *blocks, guest_addr addr, uint64_t size)
{
	const struct heap_block block = {
		.addr = addr, .size = size, .allocated.function = "malloc",
	};

	assert_int_equal(heap_blocks_add(blocks, &block), 0);
}

static void whose_zone_it_is(void **state)
{
	const struct heap_site site = { .function = "free", .at = { 5, 0 } };
	struct heap_blocks blocks = { 0 };

	(void)state;
	add(&blocks, BASE + 0x100, 24);
	add(&blocks, BASE + 0x120, 24);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0x118)->addr,
			 BASE + 0x100);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0x11f)->addr,
			 BASE + 0x120);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0xff)->addr,
			 BASE + 0x100);
	assert_null(heap_blocks_near(&blocks, BASE + 0x1000));
	/* What was freed is not the neighbour of what has a part of it. */
	add(&blocks, BASE + 0x400, 1000);
	heap_blocks_free(&blocks, heap_blocks_find(&blocks, BASE + 0x400),
			 &site);
	add(&blocks, BASE + 0x400, 10);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0x40a)->size, 10);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0x600)->size, 1000);
	add(&blocks, BASE + 0x420, 18);
	assert_int_equal(heap_blocks_near(&blocks, BASE + 0x432)->size, 18);
	heap_blocks_release(&blocks);
}

/* Others may have whatever was freed. */
static void doubt(void **state)
{
	const struct heap_site site = { .function = "free" };
	struct heap_blocks blocks = { 0 };
	guest_addr first;
	uint64_t count;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add(&blocks, BASE + 0x1800 * i, 0x1700);
	for (unsigned i = 0; i < 100; i += 2)
		heap_blocks_free(&blocks, heap_blocks_find(
				&blocks, BASE + 0x1800 * i), &site);
	assert_true(heap_shadow_finds(&blocks.shadow, BASE, 8, &first,
				      &count));
	heap_blocks_doubt(&blocks);
	assert_false(heap_shadow_finds(&blocks.shadow, BASE, 0x1800 * 100,
				       &first, &count));
	assert_int_equal(blocks.count, 50);
	assert_null(heap_blocks_find(&blocks, BASE));
	for (unsigned i = 1; i < 100; i += 2)
		assert_int_equal(heap_blocks_find(&blocks, BASE + 0x1800 * i +
							    5)->addr,
				 BASE + 0x1800 * i);
	heap_blocks_release(&blocks);
}

/* ------- names ------- */

struct name_row {
	const char *name;
	enum heap_role role;
};

static const struct name_row names[] = {
	{ "malloc", HEAP_ALLOCATES },
	{ "free", HEAP_FREES },
	{ "aligned_alloc", HEAP_ALLOCATES_SECOND },
	{ "calloc", HEAP_ALLOCATES_MANY },
	{ "cfree", HEAP_FREES },
	{ "free_sized", HEAP_FREES },
	{ "malloc_usable_size", HEAP_TELLS_SIZE },
	{ "memalign", HEAP_ALLOCATES_SECOND },
	{ "posix_memalign", HEAP_ALLOCATES_AT },
	{ "pvalloc", HEAP_ALLOCATES_PAGES },
	{ "realloc", HEAP_RESIZES },
	{ "reallocarray", HEAP_RESIZES_MANY },
	{ "valloc", HEAP_ALLOCATES },
	{ "xallocx", HEAP_TELLS_SIZE },
	{ "__libc_free", HEAP_FREES },
	{ "__libc_thread_freeres", HEAP_WORKS },
	{ "mi_new", HEAP_ALLOCATES },
	{ "mi_zalloc_small", HEAP_ALLOCATES },
	{ "scalable_aligned_malloc", HEAP_ALLOCATES },
	{ "tc_deletearray", HEAP_FREES },
	{ "_rjem_sdallocx", HEAP_FREES },
	{ "_Znwm", HEAP_ALLOCATES },
	{ "_ZnamRKSt9nothrow_t", HEAP_ALLOCATES },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", HEAP_ALLOCATES },
	{ "_ZdlPv", HEAP_FREES },
	{ "_ZdaPvm", HEAP_FREES },
	{ "_ZdlPvmSt11align_val_t", HEAP_FREES },
	/* A place that one has already; and names of programs. */
	{ "_ZnwmPv", HEAP_NONE },
	{ "_ZdlPvS_", HEAP_NONE },
	{ "_Znwj", HEAP_NONE },
	{ "new", HEAP_NONE },
	{ "zalloc", HEAP_NONE },
	{ "xmalloc", HEAP_NONE },
	{ "mallocs", HEAP_NONE },
	{ "my_free", HEAP_NONE },
	{ "", HEAP_NONE },
};

static void roles(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (heap_role_of(names[i].name) != names[i].role)
			fail_msg("%s: %d", names[i].name,
				 heap_role_of(names[i].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_at_random),
		cmocka_unit_test(whose_zone_it_is),
		cmocka_unit_test(doubt),
		cmocka_unit_test(roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
