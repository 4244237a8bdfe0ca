/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_shadow.h - which bytes of a heap belong to a block, and which to nobody
 *
 * A byte is live, in a block; or forbidden: nobody but the allocator may write
 * it; or nothing is known of it.  Only pages of which a part has been in a
 * block are looked at.  What is to be forbidden beyond them, or is live, is not.
 *
 * Pages that are all the same take next to no memory.  Zeroed, it is empty.
 *
 * Ownership:  heap_shadow_release() frees.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_SHADOW_H
#define CPREC_REPLAYER_SESSION_HEAP_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/region.h"

struct shadow_page;

/* Pages that were asked for last; most stores are to few of them. */
#define SHADOW_CACHED 256u

struct shadow_cached {
	uint64_t page;			/* and 1 more; 0: none */
	struct shadow_page *shadow;	/* NULL: it has none */
};

struct heap_shadow {
	struct number_map pages;	/* to struct shadow_page */
	struct shadow_cached cached[SHADOW_CACHED];
};

void heap_shadow_release(struct heap_shadow *shadow);

/* The bytes are in a block. */
int heap_shadow_live(struct heap_shadow *shadow, guest_addr addr,
		     uint64_t size);

/* They were in a block until now; nobody may write them. */
int heap_shadow_free(struct heap_shadow *shadow, guest_addr addr,
		     uint64_t size);

/* Nobody may write them, but for those that are live. */
int heap_shadow_forbid(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size);

/* Nothing is known of them any more: their pages are others now ... */
void heap_shadow_forget_pages(struct heap_shadow *shadow, guest_addr addr,
			      uint64_t size);

/* ... or they are somebody's, who knows of which. */
int heap_shadow_forget(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size);

/* Nothing is forbidden any more. */
void heap_shadow_allow(struct heap_shadow *shadow);

/* Whether any of these pages has been the heap's. */
bool heap_shadow_has(struct heap_shadow *shadow, guest_addr addr,
		     uint64_t size);

/*
 * Whether any of them is forbidden: `*first` is the first one and `*count` how
 * many there are from there on.
 */
bool heap_shadow_finds(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size, guest_addr *first, uint64_t *count);

#endif
