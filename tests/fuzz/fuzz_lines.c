/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines (records of the side file): whatever is accepted can be looked up. */
#include "tests/fuzz/fuzz.h"

#include "index/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_set set;
	int rc = line_set_decode(&set, data, size);
	uint64_t all, found = 0;

	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	all = line_set_epochs(&set, 0, UINT64_MAX);
	for (size_t i = 0; i < set.page_count; i++) {
		guest_addr first = set.pages[i].page << GUEST_PAGE_SHIFT;

		found |= line_set_epochs(&set, first, first + GUEST_PAGE - 1);
	}
	assert((found & ~all) == 0);
	line_set_release(&set);
	return 0;
}
