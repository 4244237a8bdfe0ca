/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_items_sample.h - putting decoded items back into a batch */
#ifndef CPREC_TESTS_UNIT_PAGE_ITEMS_SAMPLE_H
#define CPREC_TESTS_UNIT_PAGE_ITEMS_SAMPLE_H

#include <string.h>

#include "formats/page_items.h"

/* `id` is the item's own. */
static inline void batch_add_item(struct page_batch *batch,
				  const struct page_item *item, uint64_t id)
{
	struct page_patch patch = { 0 };

	if (!item->bytes) {
		page_batch_add_place(batch, &item->place);
		return;
	}
	if (!item->base) {
		page_batch_add(batch, item->bytes);
		return;
	}
	memcpy(patch.mask, item->bytes, PAGE_MASK);
	for (size_t i = 0; i < PAGE_MASK / 8; i++)
		patch.count += (unsigned)__builtin_popcountll(patch.mask[i]);
	memcpy(patch.words, item->bytes + PAGE_MASK, patch.count * 8);
	page_batch_add_patch(batch, &patch, id - item->base);
}

#endif
