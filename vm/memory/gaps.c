/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gaps.c - where nothing is mapped
 *
 * The highest gap that is large enough is found without looking at all above
 * it: for sizes in powers of two it is known up to where from the top there
 * is none.
 */
#include "vm/memory/memory_internal.h"

/* The largest i for which 2^i pages are not more than `size`. */
static unsigned class_of(uint64_t size)
{
	uint64_t pages = size >> GUEST_PAGE_SHIFT;
	unsigned class = pages ? 63 - (unsigned)__builtin_clzll(pages) : 0;

	return class < GAP_CLASSES ? class : GAP_CLASSES - 1;
}

static guest_addr lower(guest_addr a, guest_addr b)
{
	return a < b ? a : b;
}

static guest_addr higher(guest_addr a, guest_addr b)
{
	return a > b ? a : b;
}

/* The gap above mapping `index` - 1 and below mapping `index`, up to `top`. */
static guest_addr gap_start(const struct memory *memory, size_t index)
{
	return index ? mapping_at(memory, index - 1)->region.end : 0;
}

static guest_addr gap_end(const struct memory *memory, size_t index,
			  guest_addr top)
{
	return index < memory->count ?
		       lower(mapping_at(memory, index)->region.start, top) :
		       top;
}

/*
 * Searches from `from` down, and says in `*first` where the highest gap of
 * `least` bytes ends; `bottom` if there is none.
 */
static guest_addr search(const struct memory *memory, uint64_t size,
			 guest_addr bottom, guest_addr from, uint64_t least,
			 guest_addr *first)
{
	*first = bottom;
	for (size_t i = memory_index(memory, from - 1) + 1; i-- > 0;) {
		guest_addr end = gap_end(memory, i, from);
		guest_addr start = gap_start(memory, i);

		if (end <= bottom)
			break;
		if (start >= end || end - start < least)
			continue;
		*first = higher(*first, end);
		if (end - higher(start, bottom) >= size)
			return end - size;
	}
	return 0;
}

guest_addr memory_find_gap(const struct memory *memory, uint64_t size,
			   guest_addr bottom, guest_addr top)
{
	/* What is known is a cache of what the caller may see. */
	struct gaps *gaps = &((struct memory *)memory)->gaps;
	unsigned class = class_of(size);
	uint64_t least = UINT64_C(1) << (class + GUEST_PAGE_SHIFT);
	guest_addr from = top, found, first;

	/* There is but one place: it is no search. */
	if (top - bottom == size)
		return search(memory, size, bottom, top, size, &first);
	if (gaps->top != top) {
		gaps->top = top;
		for (unsigned i = 0; i < GAP_CLASSES; i++)
			gaps->end[i] = top;
	}
	for (unsigned i = 0; i <= class; i++)
		from = lower(from, gaps->end[i]);
	if (from <= bottom)
		return 0;
	found = search(memory, size, bottom, from, least, &first);
	gaps->end[class] = higher(first, bottom);
	return found;
}

void gaps_note(struct memory *memory, guest_addr addr)
{
	size_t index = memory_index(memory, addr);
	struct gaps *gaps = &memory->gaps;
	guest_addr start, end;

	if (addr >= gaps->top)
		return;
	start = gap_start(memory, index);
	end = gap_end(memory, index, gaps->top);
	for (unsigned i = 0; i < GAP_CLASSES; i++)
		if (end - start >= UINT64_C(1) << (i + GUEST_PAGE_SHIFT))
			gaps->end[i] = higher(gaps->end[i], end);
}
