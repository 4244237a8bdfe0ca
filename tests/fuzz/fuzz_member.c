/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first byte says which of the two structures it is.  Whatever the rest is,
 * the decoder stays in bounds and returns a documented code; what it accepts is
 * encoded again to the same bytes, and names a file in the family's folder.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/member.h"

static int try_member(struct output *again, const uint8_t *data, size_t size)
{
	char name[FAMILY_NAME_ROOM];
	struct family_member found;
	struct member member;
	int rc = member_decode(&member, data, size);

	if (rc)
		return rc;
	assert(member.name.pid);
	family_name(name, &member.name);
	assert(family_name_parse(&found, name));
	assert(found.pid == member.name.pid);
	member_encode(again, &member);
	return 0;
}

static int try_place(struct output *again, const uint8_t *data, size_t size)
{
	struct symbols_at at;
	int rc = symbols_at_decode(&at, data, size);

	if (rc)
		return rc;
	assert(at.member);
	symbols_at_encode(again, &at);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct output again = { 0 };
	int rc;

	if (!size)
		return 0;
	rc = data[0] & 1 ? try_place(&again, data + 1, size - 1) :
			   try_member(&again, data + 1, size - 1);
	assert(!rc || is_documented(rc));
	if (!rc)
		assert_same(&again, data + 1, size - 1);
	return 0;
}
