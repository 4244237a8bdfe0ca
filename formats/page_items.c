/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_items.c - see page_items.h */
#include "formats/page_items.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "formats/error.h"
#include "formats/region.h"

enum { WORD = 8 };

/* A distance that is none: the page is elsewhere. */
#define ELSEWHERE (UINT64_C(1) << 63)

static uint64_t word_at(const uint8_t *bytes, unsigned number)
{
	uint64_t word;

	memcpy(&word, bytes + (size_t)number * WORD, WORD);
	return word;
}

/* ------- making ------- */

bool page_patch_make(struct page_patch *out, const uint8_t *base,
		     const uint8_t *page, unsigned most)
{
	out->count = 0;
	for (unsigned part = 0; part < PAGE_WORDS / 64; part++) {
		uint64_t mask = 0;

		if (out->count > most)
			return false;
		for (unsigned i = 0; i < 64; i++) {
			uint64_t change = word_at(base, part * 64 + i) ^
					  word_at(page, part * 64 + i);

			out->words[out->count] = change;
			out->count += change != 0;
			mask |= (uint64_t)(change != 0) << i;
		}
		out->mask[part] = mask;
	}
	return out->count <= most;
}

/* All that is put in is whole words: that packs better. */
void page_batch_add(struct page_batch *batch, const uint8_t *page)
{
	output_bytes(&batch->pages, page, GUEST_PAGE);
	batch->distances[batch->count++] = 0;
	batch->here++;
}

void page_batch_add_patch(struct page_batch *batch,
			  const struct page_patch *patch, uint64_t distance)
{
	for (unsigned i = 0; i < PAGE_WORDS / 64; i++)
		output_uint(&batch->pages, patch->mask[i], WORD);
	output_bytes(&batch->pages, patch->words, patch->count * WORD);
	batch->distances[batch->count++] = distance;
	batch->here++;
}

/* Pages that lie one behind the other there look alike: that packs better. */
void page_batch_add_place(struct page_batch *batch,
			  const struct page_place *place)
{
	uint64_t step = (place->id - batch->place_id) & (PAGE_PLACE_IDS - 1);

	assert(place->member && place->member < PAGE_PLACE_MEMBERS);
	assert(place->id && place->id < PAGE_PLACE_IDS);
	batch->place_id = place->id;
	batch->distances[batch->count++] =
		ELSEWHERE | (uint64_t)place->member * PAGE_PLACE_IDS | step;
}

bool page_batch_is_full(const struct page_batch *batch)
{
	return batch->count == PAGE_ITEMS_MOST ||
	       batch->here == PAGE_ITEMS_HERE ||
	       batch->pages.size + GUEST_PAGE > PAGE_ITEMS_PAGES;
}

void page_batch_end(struct page_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++)
		output_uint(&batch->pages, batch->distances[i], WORD);
	batch->count = batch->here = 0;
	batch->place_id = 0;
}

/* ------- taking ------- */

static uint64_t mask_at(const uint8_t *mask, unsigned part)
{
	uint64_t little;

	memcpy(&little, mask + part * WORD, WORD);
	return le64toh(little);
}

/* Its bytes: the mask and the words. */
static size_t patch_size(const uint8_t *patch)
{
	int words = 0;

	for (unsigned part = 0; part < PAGE_WORDS / 64; part++)
		words += __builtin_popcountll(mask_at(patch, part));
	return PAGE_MASK + (size_t)words * WORD;
}

/* A page that is elsewhere; `*before` is the id of the one before it. */
static void take_place(struct page_item *item, uint64_t place,
		       uint64_t *before, struct input *in)
{
	*before = (*before + place) & (PAGE_PLACE_IDS - 1);
	item->base = 0;
	item->bytes = NULL;
	item->place.member = (uint32_t)((place & ~ELSEWHERE) / PAGE_PLACE_IDS);
	item->place.id = *before;
	if (!item->place.member || !item->place.id)
		in->error = ERR_CORRUPT;
}

static void take_item(struct page_item *item, uint64_t id, uint64_t distance,
		      struct input *in)
{
	item->place = (struct page_place){ 0 };
	if (distance >= id) {
		in->error = ERR_CORRUPT;
		return;
	}
	item->base = distance ? id - distance : 0;
	item->bytes = input_bytes(in, distance ? PAGE_MASK : GUEST_PAGE);
	if (distance && item->bytes)
		input_bytes(in, patch_size(item->bytes) - PAGE_MASK);
}

int page_items_decode(struct page_item items[PAGE_ITEMS_MOST], size_t count,
		      uint64_t first, const uint8_t *content, size_t size)
{
	struct input in = { content, content + size, 0 };
	struct input table = in;
	uint64_t before = 0;
	unsigned here = 0;

	if (count == 0 || count > PAGE_ITEMS_MOST || first == 0)
		return ERR_CORRUPT;
	if (size < count * WORD)
		return ERR_TRUNCATED;
	table.at = in.end -= count * WORD;
	for (size_t i = 0; i < count && !in.error; i++) {
		uint64_t distance = input_uint(&table, WORD);

		if (distance & ELSEWHERE)
			take_place(&items[i], distance, &before, &in);
		else
			take_item(&items[i], first + i, distance, &in);
		here += items[i].bytes != NULL;
	}
	if (in.error)
		return in.error;
	return input_left(&in) || here > PAGE_ITEMS_HERE ? ERR_CORRUPT : 0;
}

static void change_word(uint8_t *to, const uint8_t *change)
{
	uint64_t word, by;

	memcpy(&word, to, WORD);
	memcpy(&by, change, WORD);
	word ^= by;
	memcpy(to, &word, WORD);
}

static void apply_patch(const uint8_t *patch, uint8_t *page)
{
	const uint8_t *words = patch + PAGE_MASK;

	for (unsigned part = 0; part < PAGE_WORDS / 64; part++) {
		uint64_t mask = mask_at(patch, part);

		for (; mask; mask &= mask - 1, words += WORD) {
			unsigned bit = (unsigned)__builtin_ctzll(mask);

			change_word(page + (part * 64 + bit) * WORD, words);
		}
	}
}

void page_item_apply(const struct page_item *item, uint8_t *page)
{
	if (item->base)
		apply_patch(item->bytes, page);
	else
		page_apply(item->bytes, page);
}

void page_apply(const uint8_t *whole, uint8_t *page)
{
	for (unsigned i = 0; i < PAGE_WORDS; i++)
		change_word(page + i * WORD, whole + i * WORD);
}
