/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bases.c - see bases.h */
#include "recorder/bases.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/region.h"

/*
 * A base that was not used for this many snapshots may be evicted.  A choice:
 * fewer would evict pages that change in every second or third segment.
 */
#define TURNS_IDLE 4

/*
 * How many bases are looked at to find one: bounds the time for a page.  A
 * choice.
 */
#define LOOKS 8

#define LIST_SIZE (BASES_MOST * sizeof(struct base))
#define BYTES_SIZE ((size_t)BASES_MOST * GUEST_PAGE)

static void *reserve(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* A child has a recording of its own, and begins without bases. */
	madvise(at, size, MADV_WIPEONFORK);
	return at;
}

static bool make_room(struct bases *bases)
{
	if (!bases->list)
		bases->list = reserve(LIST_SIZE);
	if (bases->list && !bases->bytes)
		bases->bytes = reserve(BYTES_SIZE);
	return bases->list && bases->bytes;
}

struct base *bases_look(const struct bases *bases, uint64_t page,
			const uint8_t **bytes)
{
	const uint64_t *place = number_map_find(&bases->places, page);

	if (!place)
		return NULL;
	*bytes = bases->bytes + *place * GUEST_PAGE;
	return &bases->list[*place];
}

struct base *bases_find(struct bases *bases, uint64_t page,
			const uint8_t **bytes)
{
	struct base *base = bases_look(bases, page, bytes);

	if (base)
		base->turn = bases->turn;
	return base;
}

/* The place of a base that may be evicted; BASES_MOST: none was found. */
static size_t find_idle(struct bases *bases)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		size_t place = bases->hand;

		bases->hand = (place + 1) % BASES_MOST;
		if (bases->list[place].turn + TURNS_IDLE < bases->turn) {
			number_map_remove(&bases->places,
					  bases->list[place].page);
			return place;
		}
	}
	return BASES_MOST;
}

void bases_keep(struct bases *bases, const struct base *base,
		const uint8_t *bytes)
{
	const uint64_t *known = number_map_find(&bases->places, base->page);
	size_t place;

	if (known)
		place = *known;
	else if (!make_room(bases))
		return;
	else if (bases->count < BASES_MOST)
		place = bases->count++;
	else
		place = find_idle(bases);
	if (place == BASES_MOST)
		return;
	bases->list[place] = *base;
	bases->list[place].turn = bases->turn;
	memcpy(bases->bytes + place * GUEST_PAGE, bytes, GUEST_PAGE);
	if (!known && number_map_set(&bases->places, base->page, place))
		bases->list[place].turn = 0;	/* is nowhere found */
}

void bases_release(struct bases *bases)
{
	number_map_release(&bases->places);
	if (bases->list)
		munmap(bases->list, LIST_SIZE);
	if (bases->bytes)
		munmap(bases->bytes, BYTES_SIZE);
	*bases = (struct bases){ 0 };
}
