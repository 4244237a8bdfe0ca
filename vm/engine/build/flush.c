/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush.c - dropping all translations costs what they have taken
 *
 * The engine clears its whole buffer for translations when it drops them all,
 * used or not: half a second for 512 MB, which then are there for good.  Pages of
 * that buffer are zero once they are given back.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/region.h"
#include "vm/engine/engine_internal.h"

/* The engine clears nothing else that is as large. */
#define LARGE (4u << 20)

/* The buffer is no file's, and nobody else's; else they would not be zeros. */
static bool give_back(uint8_t *start, uint8_t *end)
{
	return !madvise(start, (size_t)(end - start), MADV_DONTNEED) &&
	       !*start;
}

static uint8_t *page_behind(uint8_t *at)
{
	return at + (-(uintptr_t)at & (GUEST_PAGE - 1));
}

void *our_memset(void *bytes, int byte, size_t size)
{
	uint8_t *start = page_behind(bytes), *end = (uint8_t *)bytes + size;
	uint8_t *last = end - ((uintptr_t)end & (GUEST_PAGE - 1));

	if (size < LARGE || byte || !give_back(start, last))
		return memset(bytes, byte, size);
	memset(bytes, 0, (size_t)(start - (uint8_t *)bytes));
	memset(last, 0, (size_t)(end - last));
	return bytes;
}
