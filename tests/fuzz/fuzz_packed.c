/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the bytes are, packed_directory_decode() stays in bounds and returns
 * a documented code.  What it accepts lies in the file, one recording after the
 * other, is found by its name, and is encoded again to the same bytes.  The
 * first 8 bytes are where the recordings end.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/packed.h"

#define NUMBER 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size, 0 };
	uint64_t end = input_uint(&in, NUMBER), offset = PACKED_HEADER_SIZE;
	struct packed packed = { 0 };
	struct output again = { 0 };
	int rc;

	if (in.error)
		return 0;
	rc = packed_directory_decode(&packed, end, data + NUMBER,
				     size - NUMBER);
	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 0; i < packed.count; i++) {
		const struct packed_member *member = &packed.list[i];

		assert(member->offset == offset);
		assert(member->size <= end - offset);
		assert(packed_find(&packed, member->name) == member);
		assert(!*member->name == !i && !strchr(member->name, '/'));
		offset += member->size;
	}
	assert(offset == end);
	packed_end_encode(&again, &packed);
	assert(!again.error && again.size > PACKED_TRAILER_SIZE);
	again.size -= PACKED_TRAILER_SIZE;
	assert_same(&again, data + NUMBER, size - NUMBER);
	packed_release(&packed);
	return 0;
}
