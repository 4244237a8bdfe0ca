/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_shadow.c - see heap_shadow.h */
#include "replayer/session/heap_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

/* A bit for each byte, the lowest first. */
#define WORDS (GUEST_PAGE / 64)

struct shadow_page {
	uint64_t live[WORDS], forbidden[WORDS];
};

/* Pages that are all the same; many share them. */
static struct shadow_page all_live = {
	.live = { [0 ... WORDS - 1] = UINT64_MAX },
};
static struct shadow_page all_forbidden = {
	.forbidden = { [0 ... WORDS - 1] = UINT64_MAX },
};

static struct shadow_page all_unknown;

static bool is_common(const struct shadow_page *page)
{
	return page == &all_live || page == &all_forbidden ||
	       page == &all_unknown;
}

/* ------- pages ------- */

static struct shadow_page *page_of(struct heap_shadow *shadow, guest_addr addr)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT, *found;
	struct shadow_cached *cached = &shadow->cached[page % SHADOW_CACHED];

	if (cached->page == page + 1)
		return cached->shadow;
	found = number_map_find(&shadow->pages, page);
	cached->page = page + 1;
	cached->shadow = found ? (void *)(uintptr_t)*found : NULL;
	return cached->shadow;
}

static void free_page(struct shadow_page *page)
{
	if (!is_common(page))
		free(page);
}

static int set_page(struct heap_shadow *shadow, guest_addr addr,
		    struct shadow_page *page)
{
	uint64_t number = addr >> GUEST_PAGE_SHIFT;
	struct shadow_page *before = page_of(shadow, addr);

	if (number_map_set(&shadow->pages, number, (uint64_t)(uintptr_t)page))
		return ERR_NO_MEMORY;
	if (before)
		free_page(before);
	shadow->cached[number % SHADOW_CACHED].shadow = page;
	return 0;
}

/* One that can be changed, with what is known of it until now. */
static int own_page(struct heap_shadow *shadow, guest_addr addr,
		    struct shadow_page **out)
{
	struct shadow_page *before = page_of(shadow, addr);
	struct shadow_page *page = before;

	if (!before || is_common(before)) {
		page = calloc(1, sizeof(*page));
		if (page && before)
			*page = *before;
		if (!page || set_page(shadow, addr, page)) {
			free(page);
			return ERR_NO_MEMORY;
		}
	}
	*out = page;
	return 0;
}

static void remove_page(struct heap_shadow *shadow, uint64_t page)
{
	uint64_t *found = number_map_find(&shadow->pages, page);

	if (!found)
		return;
	free_page((void *)(uintptr_t)*found);
	number_map_remove(&shadow->pages, page);
	shadow->cached[page % SHADOW_CACHED].page = 0;
}

void heap_shadow_release(struct heap_shadow *shadow)
{
	for (size_t i = 0; i < shadow->pages.room; i++)
		if (shadow->pages.slots[i].key != NUMBER_MAP_NONE)
			free_page((void *)(uintptr_t)
					  shadow->pages.slots[i].value);
	number_map_release(&shadow->pages);
	memset(shadow->cached, 0, sizeof(shadow->cached));
}

/* ------- parts of pages ------- */

/* The bytes of one word that are meant, from `addr` on; how many these are. */
static uint64_t word_part(guest_addr addr, uint64_t size, uint64_t *mask)
{
	uint64_t at = addr % 64, count = 64 - at;

	if (count > size)
		count = size;
	*mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << at;
	return count;
}

enum change { TO_LIVE, TO_FREE, TO_FORBIDDEN, TO_UNKNOWN };

static void change_word(struct shadow_page *page, size_t word, uint64_t mask,
			enum change change)
{
	uint64_t *live = &page->live[word], *forbidden = &page->forbidden[word];

	switch (change) {
	case TO_LIVE:
		*live |= mask;
		*forbidden &= ~mask;
		break;
	case TO_FREE:
		*live &= ~mask;
		*forbidden |= mask;
		break;
	case TO_FORBIDDEN:
		*forbidden |= mask & ~*live;
		break;
	case TO_UNKNOWN:
		*live &= ~mask;
		*forbidden &= ~mask;
		break;
	}
}

/* Some bytes of one page. */
static int change_part(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size, enum change change)
{
	struct shadow_page *page;
	int rc = own_page(shadow, addr, &page);

	while (size && !rc) {
		uint64_t mask, count = word_part(addr, size, &mask);

		change_word(page, addr % GUEST_PAGE / 64, mask, change);
		addr += count;
		size -= count;
	}
	return rc;
}

static int change(struct heap_shadow *shadow, guest_addr addr, uint64_t size,
		  enum change change)
{
	int rc = 0;

	while (size && !rc) {
		uint64_t count = GUEST_PAGE - addr % GUEST_PAGE;
		bool is_known = change == TO_LIVE || page_of(shadow, addr);

		if (count > size)
			count = size;
		if (is_known && count == GUEST_PAGE && change == TO_LIVE)
			rc = set_page(shadow, addr, &all_live);
		else if (is_known && count == GUEST_PAGE && change == TO_FREE)
			rc = set_page(shadow, addr, &all_forbidden);
		else if (is_known)
			rc = change_part(shadow, addr, count, change);
		addr += count;
		size -= count;
	}
	return rc;
}

int heap_shadow_live(struct heap_shadow *shadow, guest_addr addr, uint64_t size)
{
	return change(shadow, addr, size, TO_LIVE);
}

int heap_shadow_free(struct heap_shadow *shadow, guest_addr addr, uint64_t size)
{
	return change(shadow, addr, size, TO_FREE);
}

int heap_shadow_forbid(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size)
{
	return change(shadow, addr, size, TO_FORBIDDEN);
}

int heap_shadow_forget(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size)
{
	return change(shadow, addr, size, TO_UNKNOWN);
}

void heap_shadow_forget_pages(struct heap_shadow *shadow, guest_addr addr,
			      uint64_t size)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT;
	uint64_t last = (addr + size - 1) >> GUEST_PAGE_SHIFT;

	/* Far more memory may go than there are pages here. */
	if (last - page < shadow->pages.count) {
		for (; page <= last; page++)
			remove_page(shadow, page);
		return;
	}
	for (size_t i = 0; i < shadow->pages.room;) {
		uint64_t key = shadow->pages.slots[i].key;

		/* Another one may take the place of one that is removed. */
		if (key != NUMBER_MAP_NONE && page <= key && key <= last)
			remove_page(shadow, key);
		else
			i++;
	}
}

void heap_shadow_allow(struct heap_shadow *shadow)
{
	for (size_t i = 0; i < shadow->pages.room; i++) {
		struct number_slot *slot = &shadow->pages.slots[i];
		struct shadow_page *page = (void *)(uintptr_t)slot->value;

		if (slot->key == NUMBER_MAP_NONE)
			continue;
		if (page == &all_forbidden)
			slot->value = (uintptr_t)&all_unknown;
		else if (!is_common(page))
			memset(page->forbidden, 0, sizeof(page->forbidden));
	}
	memset(shadow->cached, 0, sizeof(shadow->cached));
}

/* ------- looking ------- */

bool heap_shadow_has(struct heap_shadow *shadow, guest_addr addr, uint64_t size)
{
	for (guest_addr at = addr & ~(guest_addr)(GUEST_PAGE - 1);
	     at < addr + size; at += GUEST_PAGE)
		if (page_of(shadow, at))
			return true;
	return false;
}

bool heap_shadow_finds(struct heap_shadow *shadow, guest_addr addr,
		       uint64_t size, guest_addr *first, uint64_t *count)
{
	*count = 0;
	while (size) {
		const struct shadow_page *page = page_of(shadow, addr);
		uint64_t mask, part = word_part(addr, size, &mask);

		if (page)
			mask &= page->forbidden[addr % GUEST_PAGE / 64];
		if (page && mask) {
			if (!*count)
				*first = (addr & ~(guest_addr)63) +
					 (guest_addr)__builtin_ctzll(mask);
			*count += (uint64_t)__builtin_popcountll(mask);
		}
		addr += part;
		size -= part;
	}
	return *count != 0;
}
