/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables of machines (side file): what is accepted can be looked up. */
#include "tests/fuzz/fuzz.h"

#include "index/table_changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table_changes changes;
	int rc = table_changes_decode(&changes, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 0; i < changes.count; i++) {
		const struct table_change *change = &changes.list[i];

		assert(change->tables < changes.table_count);
		assert(table_changes_at(&changes, change->time, UINT32_MAX,
					NULL));
	}
	table_changes_release(&changes);
	return 0;
}
