/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_page_items.c - pages and patches in a content, and contents that lie */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/page_items.h"
#include "formats/region.h"
#include "tests/unit/between.h"
#include "tests/unit/page_items_sample.h"
#include "tests/unit/table.h"

static uint8_t before[GUEST_PAGE], now[GUEST_PAGE], made[GUEST_PAGE];
static uint64_t state = 88172645463325252u;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fill(uint8_t *page)
{
	for (size_t i = 0; i < GUEST_PAGE; i++)
		page[i] = (uint8_t)chance();
}

/* Changes one byte of each of so many words, anywhere. */
static void change_words(unsigned count)
{
	memcpy(now, before, sizeof(now));
	while (count) {
		size_t word = chance() % PAGE_WORDS * 8;

		if (memcmp(now + word, before + word, 8) != 0)
			continue;
		now[word + chance() % 8] ^= (uint8_t)(1 + chance() % 255);
		count--;
	}
}

static void decode(struct page_item *items, const struct page_batch *batch,
		   size_t count, uint64_t first)
{
	assert_int_equal(page_items_decode(items, count, first,
					   batch->pages.bytes,
					   batch->pages.size), 0);
}

/* ------- one patch ------- */

static const struct count_row {
	const char *name;
	unsigned words;
} counts[] = {
	{ "one word", 1 }, { "two words", 2 }, { "63 words", 63 },
	{ "64 words", 64 }, { "65 words", 65 }, { "192 words", 192 },
	{ "all words", PAGE_WORDS },
};

static void makes_the_page(void **row)
{
	const struct count_row *test = *row;
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch batch = { 0 };
	struct page_patch patch;

	for (unsigned round = 0; round < 20; round++) {
		fill(before);
		change_words(test->words);
		assert_false(page_patch_make(&patch, before, now,
					     test->words - 1));
		assert_true(page_patch_make(&patch, before, now, test->words));
		assert_int_equal(patch.count, test->words);
		page_batch_add_patch(&batch, &patch, 3);
		page_batch_end(&batch);
		assert_int_equal(batch.pages.size,
				 PAGE_MASK + (test->words + 1) * 8);
		decode(items, &batch, 1, 9);
		assert_int_equal(items[0].base, 6);
		memcpy(made, before, sizeof(made));
		page_item_apply(&items[0], made);
		assert_memory_equal(made, now, sizeof(made));
		output_clear(&batch.pages);
	}
	output_release(&batch.pages);
}

static void equal_pages_need_no_words(void **row)
{
	struct page_patch patch;

	(void)row;
	fill(before);
	assert_true(page_patch_make(&patch, before, before, 0));
	assert_int_equal(patch.count, 0);
}

/* ------- batches ------- */

static void whole_pages_and_patches(void **row)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch batch = { 0 };
	struct page_batch again = { 0 };
	struct page_patch patch;

	(void)row;
	fill(before);
	change_words(5);
	page_patch_make(&patch, before, now, 5);
	page_batch_add(&batch, before);
	page_batch_add_patch(&batch, &patch, 1);
	page_batch_add(&batch, now);
	page_batch_end(&batch);
	assert_int_equal(batch.count, 0);
	decode(items, &batch, 3, 100);
	assert_int_equal(items[0].base, 0);
	assert_memory_equal(items[0].bytes, before, GUEST_PAGE);
	assert_int_equal(items[1].base, 100);
	assert_int_equal(items[2].base, 0);
	assert_memory_equal(items[2].bytes, now, GUEST_PAGE);
	for (unsigned i = 0; i < 3; i++)
		batch_add_item(&again, &items[i], 100 + i);
	page_batch_end(&again);
	assert_int_equal(again.pages.size, batch.pages.size);
	assert_memory_equal(again.pages.bytes, batch.pages.bytes,
			    batch.pages.size);
	output_release(&batch.pages);
	output_release(&again.pages);
}

/* Whatever is put into it before it is full, it is within its limits. */
static void a_full_batch_can_be_read(void **row)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch batch = { 0 };
	struct page_patch patch;

	(void)row;
	for (unsigned round = 0; round < 200; round++) {
		unsigned of_ten = round % 11, count;

		while (!page_batch_is_full(&batch)) {
			change_words(1 + chance() % 400);
			page_patch_make(&patch, before, now, PAGE_WORDS);
			if (chance() % 10 < of_ten)
				page_batch_add_patch(&batch, &patch, 1);
			else
				page_batch_add(&batch, now);
		}
		count = batch.count;
		page_batch_end(&batch);
		assert_between(batch.pages.size, 1, PAGE_ITEMS_BYTES);
		if (of_ten == 0)
			assert_int_equal(count, 16);
		decode(items, &batch, count, 2);
		output_clear(&batch.pages);
	}
	output_release(&batch.pages);
}

/* Many that are elsewhere have room, beside as many others as always. */
static void elsewhere(void **row)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch batch = { 0 };
	struct page_patch patch;
	unsigned count = 0;

	(void)row;
	change_words(1);
	assert_true(page_patch_make(&patch, before, now, PAGE_WORDS));
	while (!page_batch_is_full(&batch)) {
		struct page_place place = { 1 + count % 3,
					    PAGE_PLACE_IDS - 1 - count % 7 };

		if (count % 100 == 50)
			page_batch_add_patch(&batch, &patch, 2);
		else
			page_batch_add_place(&batch, &place);
		count++;
	}
	assert_int_equal(count, PAGE_ITEMS_MOST);
	page_batch_end(&batch);
	assert_between(batch.pages.size, 1, PAGE_ITEMS_BYTES);
	decode(items, &batch, count, 3);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(items[i].base, i % 100 == 50 ? 3 + i - 2 : 0);
		if (i % 100 == 50)
			continue;
		assert_null(items[i].bytes);
		assert_int_equal(items[i].place.member, 1 + i % 3);
		assert_int_equal(items[i].place.id,
				 PAGE_PLACE_IDS - 1 - i % 7);
	}
	output_release(&batch.pages);
}

/* More than 64 of a chunk that have bytes. */
static void too_many_here(void **row)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch batch = { 0 };
	struct page_patch patch;

	(void)row;
	change_words(1);
	assert_true(page_patch_make(&patch, before, now, PAGE_WORDS));
	for (unsigned i = 0; i <= PAGE_ITEMS_HERE; i++)
		page_batch_add_patch(&batch, &patch, 1);
	page_batch_end(&batch);
	assert_int_equal(page_items_decode(items, PAGE_ITEMS_HERE + 1, 3,
					   batch.pages.bytes,
					   batch.pages.size), ERR_CORRUPT);
	output_release(&batch.pages);
}

/* ------- contents that lie ------- */

/* Two patches of one word each, and a whole page between them. */
static size_t make_content(uint8_t *bytes)
{
	struct page_batch batch = { 0 };
	struct page_patch patch;
	size_t size;

	memset(before, 0, sizeof(before));
	memcpy(now, before, sizeof(now));
	now[64] = 7;
	page_patch_make(&patch, before, now, 1);
	page_batch_add_patch(&batch, &patch, 4);
	page_batch_add(&batch, now);
	page_batch_add_patch(&batch, &patch, 6);
	page_batch_end(&batch);
	size = batch.pages.size;
	memcpy(bytes, batch.pages.bytes, size);
	output_release(&batch.pages);
	return size;
}

#define CONTENT (2 * (PAGE_MASK + 8) + GUEST_PAGE + 3 * 8)

static const struct lie {
	const char *name;
	size_t count;
	uint64_t first;
	size_t size;
	size_t at;		/* of a byte that is changed */
	uint8_t value;
	int rc;
} lies[] = {
	{ "the truth", 3, 5, CONTENT, 0, 0, 0 },
	{ "no pages", 0, 5, CONTENT, 0, 0, ERR_CORRUPT },
	{ "too many pages", PAGE_ITEMS_MOST + 1, 5, CONTENT, 0, 0,
	  ERR_CORRUPT },
	{ "page 0", 3, 0, CONTENT, 0, 0, ERR_CORRUPT },
	{ "a base before the first page", 3, 4, CONTENT, 0, 0, ERR_CORRUPT },
	{ "a base behind itself", 3, 5, CONTENT, CONTENT - 1, 1, ERR_CORRUPT },
	{ "one page less", 2, 5, CONTENT, 0, 0, ERR_CORRUPT },
	{ "one page more", 4, 5, CONTENT, 0, 0, ERR_CORRUPT },
	{ "one word more", 3, 5, CONTENT, 0, 1, ERR_TRUNCATED },
	{ "one word less", 3, 5, CONTENT, 1, 0, ERR_CORRUPT },
	{ "not even the distances", 3, 5, 23, 0, 0, ERR_TRUNCATED },
	{ "only the distances", 3, 5, 24, 0, 0, ERR_CORRUPT },
	{ "nothing", 1, 5, 0, 0, 0, ERR_TRUNCATED },
};

static void lie(void **row)
{
	const struct lie *test = *row;
	struct page_item items[PAGE_ITEMS_MOST];
	uint8_t bytes[CONTENT];

	assert_int_equal(make_content(bytes), CONTENT);
	if (test->at || test->value)
		bytes[test->at] = test->value;
	assert_int_equal(page_items_decode(items, test->count, test->first,
					   bytes, test->size), test->rc);
}

/* Cut anywhere, it is never taken for whole. */
static void cut(void **row)
{
	struct page_item items[PAGE_ITEMS_MOST];
	uint8_t bytes[CONTENT];

	(void)row;
	make_content(bytes);
	for (size_t size = 0; size < CONTENT; size++) {
		uint8_t *part = malloc(size + 1);

		memcpy(part, bytes, size);
		assert_int_not_equal(page_items_decode(items, 3, 5, part,
						       size), 0);
		free(part);
	}
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, counts, makes_the_page);
	add_test(&list, "elsewhere", elsewhere, NULL);
	add_test(&list, "too many here", too_many_here, NULL);
	add_test(&list, "equal pages need no words", equal_pages_need_no_words,
		 NULL);
	add_test(&list, "whole pages and patches", whole_pages_and_patches,
		 NULL);
	add_test(&list, "a full batch can be read", a_full_batch_can_be_read,
		 NULL);
	add_rows(&list, lies, lie);
	add_test(&list, "cut", cut, NULL);
	return run_list("page_items", &list);
}
