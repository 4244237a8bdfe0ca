/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number_map.c - see number_map.h */
#include "formats/number_map.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

#define ROOM_LEAST 256

/*
 * The slot where `key` is or would go.  Fibonacci hashing of eights: pages
 * that follow each other are asked for one after the other.
 */
static struct number_slot *find_slot(struct number_slot *slots, size_t room,
				     uint64_t key)
{
	uint64_t hash = (key >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
	size_t at = (size_t)(hash << 3 | (key & 7)) & (room - 1);

	while (slots[at].key != NUMBER_MAP_NONE && slots[at].key != key)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static int grow(struct number_map *map)
{
	size_t room = map->room ? map->room * 2 : ROOM_LEAST;
	struct number_slot *slots;

	if (map->count * 4 < map->room * 3)
		return 0;
	slots = malloc(room * sizeof(*slots));
	if (!slots)
		return ERR_NO_MEMORY;
	memset(slots, 0xff, room * sizeof(*slots));
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].key != NUMBER_MAP_NONE)
			*find_slot(slots, room, map->slots[i].key) =
				map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->room = room;
	return 0;
}

void number_map_release(struct number_map *map)
{
	free(map->slots);
	*map = (struct number_map){ 0 };
}

void number_map_clear(struct number_map *map)
{
	if (map->count)
		memset(map->slots, 0xff, map->room * sizeof(*map->slots));
	map->count = 0;
}

uint64_t *number_map_find(const struct number_map *map, uint64_t key)
{
	struct number_slot *slot;

	if (!map->count)
		return NULL;
	slot = find_slot(map->slots, map->room, key);
	return slot->key == key ? &slot->value : NULL;
}

int number_map_set(struct number_map *map, uint64_t key, uint64_t value)
{
	struct number_slot *slot;

	if (grow(map))
		return ERR_NO_MEMORY;
	slot = find_slot(map->slots, map->room, key);
	map->count += slot->key != key;
	*slot = (struct number_slot){ key, value };
	return 0;
}

/* Those that stand behind it may have been pushed there: they move up. */
void number_map_remove(struct number_map *map, uint64_t key)
{
	uint64_t *value = number_map_find(map, key);
	struct number_slot *slots = map->slots;
	size_t mask = map->room - 1;
	size_t at;

	if (!value)
		return;
	at = (size_t)(find_slot(slots, map->room, key) - slots);
	slots[at].key = NUMBER_MAP_NONE;
	map->count--;
	for (at = (at + 1) & mask; slots[at].key != NUMBER_MAP_NONE;
	     at = (at + 1) & mask) {
		struct number_slot moved = slots[at];

		slots[at].key = NUMBER_MAP_NONE;
		*find_slot(slots, map->room, moved.key) = moved;
	}
}
