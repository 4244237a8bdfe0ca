/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_arm.c - pages of both ARMs have 4 KiB in the engine, too
 *
 * By itself it takes those of 1 KiB, which some other processors of its kind
 * have: its TLB then needs four entries for each page of the guest, and blocks
 * end four times as often.  It settles that once for each engine, in a structure
 * that it allocates for it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/region.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* The engine's; of a mask, AArch32 has only the lower half. */
struct page_bits {
	bool decided;
	int bits;
	int64_t mask;
};

#define ENGINES_BITS 10

/* While it is settled: what was allocated. */
static _Thread_local struct {
	bool is_under_way;
	void *allocated;
	size_t mask_size;
} settling;

void *our_calloc(size_t count, size_t size)
{
	void *bytes = calloc(count, size);
	size_t more = count * size - offsetof(struct page_bits, mask);

	if (settling.is_under_way && (more == 4 || more == 8)) {
		settling.allocated = bytes;
		settling.mask_size = more;
	}
	return bytes;
}

typedef void settle_fn(struct uc_struct *uc);

static void settle(struct uc_struct *uc, settle_fn *engines_own)
{
	const int64_t engines_mask = -(INT64_C(1) << ENGINES_BITS);
	const int64_t mask = -(int64_t)GUEST_PAGE;
	struct page_bits *page;

	settling.allocated = NULL;
	settling.is_under_way = true;
	engines_own(uc);
	settling.is_under_way = false;
	page = settling.allocated;
	if (!page)
		return;		/* it was settled before */
	if (!page->decided || page->bits != ENGINES_BITS ||
	    memcmp(&page->mask, &engines_mask, settling.mask_size))
		give_up("the Unicorn Engine has pages of another size");
	page->bits = GUEST_PAGE_SHIFT;
	memcpy(&page->mask, &mask, settling.mask_size);
}

#define SETTLES(name)                                                          \
	REPLACES(settle_fn, name);                                             \
	void name(struct uc_struct *uc)                                        \
	{                                                                      \
		settle(uc, engine_##name);                                     \
	}

SETTLES(finalize_target_page_bits_aarch64)
SETTLES(finalize_target_page_bits_arm)
