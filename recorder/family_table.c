/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_table.c - see family_table.h */
#include "recorder/family_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/*
 * Entries are in levels, each with twice the room of the one before, and go
 * into the first that is not full: memory that is used grows with them, and
 * what is there never moves.  The last level has room for 2^26 pages, 256 GB;
 * of fewer addresses, where a program limits them, there are fewer levels.
 */
#define LEVELS_MOST 14
#define LEVELS_LEAST 6
#define LEVEL_FIRST (UINT64_C(1) << 13)		/* entries */

/* Of four, so many are used at most. */
#define USED_MOST 3

#define MEMBERS_MOST (1u << 20)

/* States of an entry's place beside places, which are PLACE_IDS and above. */
#define PLACE_FREE 0
#define PLACE_BEGUN 1

struct entry {
	struct page_key key;
	uint64_t place;
};

struct joined {
	struct member member;
	uint32_t is_there;
};

struct family_table {
	uint64_t level_count;
	uint64_t used[LEVELS_MOST];	/* entries, or a little more */
	uint32_t members;
	struct joined joined[MEMBERS_MOST];
	struct entry entries[];		/* level after level */
};

static uint64_t level_room(unsigned level)
{
	return LEVEL_FIRST << level;
}

/* Those of all levels before. */
static uint64_t level_start(unsigned level)
{
	return (LEVEL_FIRST << level) - LEVEL_FIRST;
}

struct family_table *family_table_create(void)
{
	for (unsigned count = LEVELS_MOST; count >= LEVELS_LEAST; count--) {
		struct family_table *table = mmap(
			NULL,
			sizeof(*table) +
				level_start(count) * sizeof(struct entry),
			PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (table == MAP_FAILED)
			continue;
		table->level_count = count;
		return table;
	}
	return NULL;
}

/* ------- processes ------- */

uint32_t family_table_join(struct family_table *table,
			   const struct member *who)
{
	uint32_t place = __atomic_load_n(&table->members, __ATOMIC_RELAXED);

	if (place >= MEMBERS_MOST)
		return 0;
	place = __atomic_fetch_add(&table->members, 1, __ATOMIC_RELAXED);
	if (place >= MEMBERS_MOST)
		return 0;
	table->joined[place].member = *who;
	__atomic_store_n(&table->joined[place].is_there, 1, __ATOMIC_RELEASE);
	return place + 1;
}

const struct member *family_table_member(const struct family_table *table,
					 uint32_t number)
{
	const struct joined *joined;

	if (number < 1 || number > MEMBERS_MOST)
		return NULL;
	joined = &table->joined[number - 1];
	return __atomic_load_n(&joined->is_there, __ATOMIC_ACQUIRE) ?
		       &joined->member : NULL;
}

/* ------- contents ------- */

static bool is_key(const struct entry *entry, const struct page_key *key)
{
	return entry->key.low == key->low && entry->key.high == key->high;
}

/*
 * Goes through the entries of a level that may have a key, up to a free one.
 * Returns the place, 0 if it is not there; `*end` is the free one.
 */
static uint64_t find_in(const struct family_table *table, unsigned level,
			const struct page_key *key, uint64_t *end)
{
	const struct entry *entries = table->entries + level_start(level);
	uint64_t room = level_room(level), at = key->low & (room - 1);

	for (uint64_t i = 0; i < room; i++, at = (at + 1) & (room - 1)) {
		uint64_t place = __atomic_load_n(&entries[at].place,
						 __ATOMIC_ACQUIRE);

		*end = at;
		if (place == PLACE_FREE)
			return 0;
		if (place != PLACE_BEGUN && is_key(&entries[at], key))
			return place;
	}
	return 0;
}

static bool is_full(const struct family_table *table, unsigned level)
{
	uint64_t used = __atomic_load_n(&table->used[level], __ATOMIC_RELAXED);

	return used >= level_room(level) / 4 * USED_MOST;
}

uint64_t family_table_find(const struct family_table *table,
			   const struct page_key *key)
{
	for (unsigned level = 0; level < table->level_count; level++) {
		uint64_t end, place = find_in(table, level, key, &end);

		if (place)
			return place;
		if (!is_full(table, level))
			return 0;	/* nobody has got further */
	}
	return 0;
}

/* Another one may take the same free entry: then it is another's. */
static bool put_at(struct entry *entry, const struct page_key *key,
		   uint64_t place)
{
	uint64_t state = PLACE_FREE;

	if (!__atomic_compare_exchange_n(&entry->place, &state, PLACE_BEGUN,
					 false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	entry->key = *key;
	__atomic_store_n(&entry->place, place, __ATOMIC_RELEASE);
	return true;
}

void family_table_put(struct family_table *table, const struct page_key *key,
		      uint64_t place)
{
	for (unsigned level = 0; level < table->level_count; level++) {
		struct entry *entries = table->entries + level_start(level);
		uint64_t end;

		if (find_in(table, level, key, &end))
			return;
		if (is_full(table, level))
			continue;
		/* Counted first: whoever is killed here has taken no more. */
		__atomic_fetch_add(&table->used[level], 1, __ATOMIC_RELAXED);
		while (!put_at(&entries[end], key, place))
			if (find_in(table, level, key, &end))
				return;
		return;
	}
}
