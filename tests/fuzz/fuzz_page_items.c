/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first byte says how many pages there are, the second the id of the
 * first; whatever the rest is, page_items_decode() stays in bounds and returns
 * a documented code.  What it accepts is encoded again to the same bytes, and
 * its patches can be applied.  What is elsewhere has a place.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/page_items.h"
#include "formats/region.h"
#include "tests/unit/page_items_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch again = { 0 };
	uint8_t page[GUEST_PAGE] = { 0 };
	int rc;

	if (size < 2)
		return 0;
	rc = page_items_decode(items, data[0], data[1], data + 2, size - 2);
	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 0; i < data[0]; i++) {
		uint64_t id = data[1] + i;

		assert(items[i].base < id);
		assert(items[i].bytes ? !items[i].place.member :
					items[i].place.member &&
						items[i].place.id);
		if (items[i].base)
			page_item_apply(&items[i], page);
		batch_add_item(&again, &items[i], id);
	}
	page_batch_end(&again);
	assert_same(&again.pages, data + 2, size - 2);
	return 0;
}
