/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments (chunks of kind 132).  What is accepted is encoded again to the same
 * bytes, and its times do not fall.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "formats/moments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct moment *list;
	size_t count;
	struct output again = { 0 };
	int rc = moments_decode(&list, &count, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 1; i < count; i++)
		assert(list[i - 1].time <= list[i].time);
	moments_encode(&again, list, count);
	assert_same(&again, data, size);
	free(list);
	return 0;
}
