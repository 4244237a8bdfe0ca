/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what every fuzz harness includes
 */
#ifndef CPREC_TESTS_FUZZ_FUZZ_H
#define CPREC_TESTS_FUZZ_FUZZ_H

#undef NDEBUG
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/bytes.h"
#include "formats/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether a decoder of pure bytes may return this. */
static inline bool is_documented(int rc)
{
	return rc == ERR_TRUNCATED || rc == ERR_CORRUPT || rc == ERR_NO_MEMORY;
}

/* What was decoded must have been encoded again to the same bytes. */
static inline void assert_same(struct output *again, const uint8_t *data,
			       size_t size)
{
	assert(!again->error);
	assert(again->size == size);
	assert(!size || !memcmp(again->bytes, data, size));
	output_release(again);
}

#endif
