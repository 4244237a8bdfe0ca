/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of modules (chunks of kind 133).  What is accepted is encoded again to
 * the same bytes; what is not leaves those that were there before.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/module_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t before[] = { 1, 'm', 0, 0, 0, 0 };
	struct module_list modules = { 0 };
	struct output again = { 0 };
	int rc;

	assert(!module_files_decode(&modules, before, sizeof(before)));
	rc = module_files_decode(&modules, data, size);
	assert(!rc || (is_documented(rc) && modules.count == 1));
	assert(module_files_find(&modules, "m") == modules.list);
	for (size_t i = 1; i < modules.count; i++)
		module_files_encode(&again, &modules.list[i]);
	if (!rc)
		assert_same(&again, data, size);
	module_files_release(&modules);
	return 0;
}
