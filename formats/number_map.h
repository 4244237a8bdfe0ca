/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * number_map.h - from numbers (of pages, mostly) to numbers
 *
 * A hash table with open addressing.  Zeroed, it is empty.
 *
 * Ownership:  the slots; released by number_map_release().
 * Errors:     ERR_NO_MEMORY; the map is then as it was.
 */
#ifndef CPREC_FORMATS_NUMBER_MAP_H
#define CPREC_FORMATS_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAP_NONE UINT64_MAX	/* is no key */

struct number_slot {
	uint64_t key;		/* NUMBER_MAP_NONE: free */
	uint64_t value;
};

struct number_map {
	struct number_slot *slots;
	size_t room;		/* slots: a power of two, or 0 */
	size_t count;		/* of keys */
};

void number_map_release(struct number_map *map);

/* Forgets all; the slots stay. */
void number_map_clear(struct number_map *map);

/* The value, which may be changed; NULL if the key is not there.  It moves
 * when keys are added or removed. */
uint64_t *number_map_find(const struct number_map *map, uint64_t key);

int number_map_set(struct number_map *map, uint64_t key, uint64_t value);

/* A key that is not there is no mistake. */
void number_map_remove(struct number_map *map, uint64_t key);

#endif
