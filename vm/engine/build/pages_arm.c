/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_arm.c - pages of both ARMs have 4 KiB in the engine, too
 *
 * By itself it takes those of 1 KiB, which some other processors of its kind
 * have: its TLB then needs four entries for each page of the guest, and blocks
 * end four times as often.  It settles that once for each engine, in a structure
 * that it allocates for it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "formats/error.h"
#include "formats/region.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

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
} settling;

void *our_calloc(size_t count, size_t size)
{
	void *bytes = calloc(count, size);

	if (settling.is_under_way && count * size == sizeof(struct page_bits))
		settling.allocated = bytes;
	return bytes;
}

typedef void settle_fn(struct uc_struct *uc);

static void settle(struct uc_struct *uc, settle_fn *engines_own)
{
	struct page_bits *page;

	settling.allocated = NULL;
	settling.is_under_way = true;
	engines_own(uc);
	settling.is_under_way = false;
	page = settling.allocated;
	if (!page)
		return;		/* it was settled before */
	if (!page->decided || page->bits != ENGINES_BITS ||
	    page->mask != -(INT64_C(1) << ENGINES_BITS))
		give_up("the Unicorn Engine has pages of another size");
	page->bits = GUEST_PAGE_SHIFT;
	page->mask = -(int64_t)GUEST_PAGE;
}

#define SETTLES(name)                                                          \
	REPLACES(settle_fn, name);                                             \
	void name(struct uc_struct *uc)                                        \
	{                                                                      \
		settle(uc, engine_##name);                                     \
	}

SETTLES(finalize_target_page_bits_aarch64)
SETTLES(finalize_target_page_bits_arm)
