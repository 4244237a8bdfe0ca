/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_hash.c - see page_hash.h */
#include "formats/page_hash.h"

#include <string.h>
#include <xxhash.h>

#include "formats/region.h"

struct page_key bytes_hash(const void *bytes, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(bytes, size);

	return (struct page_key){ hash.low64, hash.high64 };
}

struct page_key page_hash(const uint8_t *bytes)
{
	return bytes_hash(bytes, GUEST_PAGE);
}

bool page_is_zero(const uint8_t *bytes)
{
	uint64_t first;

	memcpy(&first, bytes, sizeof(first));
	return !first && !memcmp(bytes, bytes + 8, GUEST_PAGE - 8);
}
