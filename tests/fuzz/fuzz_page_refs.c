/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of all pages (chunks of kind 130).  What is accepted is encoded again
 * to the same bytes, and is sorted; no page or id is out of range.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "formats/key_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_ref *list;
	size_t count;
	struct output again = { 0 };
	int rc = page_refs_decode(&list, &count, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 0; i < count; i++) {
		assert(list[i].page < GUEST_PAGES && list[i].id < PAGE_ID_END);
		assert(!i || list[i - 1].page < list[i].page);
	}
	page_refs_encode(&again, list, count);
	assert_same(&again, data, size);
	free(list);
	return 0;
}
