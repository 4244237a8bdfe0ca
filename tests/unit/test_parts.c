/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_parts.c - mappings of modules, against a table of single pages */
#include <stdint.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/symbols/parts.h"
#include "tests/unit/table.h"

enum { PAGES = 40, TURNS = 20000, MODULES = 3 };

/* What a page is: of which module, from where in its file. */
struct page {
	size_t module;
	uint64_t offset;
};

static struct page pages[PAGES];

static void forget(uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++)
		pages[i] = (struct page){ MODULE_NONE, 0 };
}

/* The same change of the table. */
static void change_pages(const struct part_change *change)
{
	uint64_t first = change->addr / GUEST_PAGE;
	uint64_t count = change->size / GUEST_PAGE;
	uint64_t target = change->target / GUEST_PAGE;

	if (change->kind == PACKET_MOVE) {
		memmove(&pages[target], &pages[first], count * sizeof(*pages));
		forget(first, count);
		return;
	}
	forget(first, count);
	for (uint64_t i = 0; i < count && change->module != MODULE_NONE; i++)
		pages[first + i] = (struct page){
			change->module,
			change->offset + i * GUEST_PAGE,
		};
}

static void compare(const struct module_parts *parts)
{
	size_t mapped = 0, found = 0;

	for (size_t i = 0; i < PAGES; i++)
		mapped += pages[i].module != MODULE_NONE;
	for (size_t i = 0; i < parts->count; i++) {
		const struct module_part *part = &parts->list[i];

		assert_true(part->start < part->end);
		for (guest_addr at = part->start; at < part->end;
		     at += GUEST_PAGE) {
			const struct page *page = &pages[at / GUEST_PAGE];

			assert_int_equal(page->module, part->module);
			assert_int_equal(page->offset,
					 part->offset + (at - part->start));
			found++;
		}
	}
	/* As many, and each of them right: the same, and none twice. */
	assert_int_equal(found, mapped);
}

static uint64_t seed = 12345;

static uint64_t below(uint64_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % limit;
}

static struct part_change any_change(void)
{
	static const enum packet_kind kinds[] = {
		PACKET_MAP,
		PACKET_MAP,
		PACKET_UNMAP,
		PACKET_MOVE,
	};
	uint64_t count = 1 + below(6), first = below(PAGES - count + 1);
	struct part_change change = {
		.kind = kinds[below(COUNT(kinds))],
		.addr = first * GUEST_PAGE,
		.size = count * GUEST_PAGE,
		.offset = below(100) * GUEST_PAGE,
		.module = MODULE_NONE,
	};
	uint64_t target = below(PAGES - count + 1);

	if (change.kind == PACKET_MAP && below(4))
		change.module = below(MODULES);
	/* The two ranges of a move do not overlap. */
	if (change.kind == PACKET_MOVE && target < first + count &&
	    first < target + count)
		change.kind = PACKET_UNMAP;
	change.target = target * GUEST_PAGE;
	return change;
}

static void any_changes(void **state)
{
	struct module_parts parts = { 0 };
	struct page before[PAGES];

	(void)state;
	forget(0, PAGES);
	for (int i = 0; i < TURNS; i++) {
		struct part_change change = any_change();
		bool any;

		memcpy(before, pages, sizeof(pages));
		change_pages(&change);
		assert_int_equal(module_parts_change(&parts, &change, &any), 0);
		compare(&parts);
		if (!any)
			assert_memory_equal(before, pages, sizeof(pages));
	}
	module_parts_release(&parts);
}

static void copies(void **state)
{
	const struct module_part part = { 0x1000, 0x3000, 0x5000, 1 };
	struct module_parts parts = { 0 }, other = { 0 };
	bool any;
	const struct part_change change = {
		.kind = PACKET_UNMAP,
		.addr = 0x2000,
		.size = 0x1000,
		.module = MODULE_NONE,
	};

	(void)state;
	assert_int_equal(module_parts_copy(&other, &parts), 0);
	assert_int_equal(other.count, 0);
	assert_int_equal(module_parts_add(&parts, &part), 0);
	assert_int_equal(module_parts_copy(&other, &parts), 0);
	assert_int_equal(module_parts_change(&parts, &change, &any), 0);
	assert_true(any);
	assert_int_equal(parts.list[0].end, 0x2000);
	assert_int_equal(other.count, 1);
	assert_memory_equal(&other.list[0], &part, sizeof(part));
	module_parts_release(&parts);
	module_parts_release(&other);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "any changes", any_changes, NULL);
	add_test(&list, "copies", copies, NULL);
	return run_list("parts", &list);
}
