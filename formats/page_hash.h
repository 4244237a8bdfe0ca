/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_hash.h - what makes two page contents one
 *
 * XXH3-128 of the GUEST_PAGE bytes (or of others).  Equal keys are taken for equal pages:
 * with 2^40 distinct pages (4 PiB) a chance collision has odds of 1 in 2^48.
 * The key is not in the file.
 */
#ifndef CPREC_FORMATS_PAGE_HASH_H
#define CPREC_FORMATS_PAGE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_key {
	uint64_t low, high;
};

struct page_key page_hash(const uint8_t *bytes);
struct page_key bytes_hash(const void *bytes, size_t size);

/* Whether the page holds nothing but zeros. */
bool page_is_zero(const uint8_t *bytes);

#endif
