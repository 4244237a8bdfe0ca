/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap.c - where the heap is in the arena
 *
 * It grows often, so a part of the arena is kept free for it to grow in.
 */
#include "vm/memory/memory_internal.h"

/* 64 GiB of addresses, no memory: a larger heap goes elsewhere. */
#define HEAP_ROOM (UINT64_C(1) << 36)

bool heap_holds(const struct memory *memory, const struct mapping *map)
{
	return memory->heap_start && map->arena >= memory->heap_arena &&
	       map->arena < memory->heap_arena + HEAP_ROOM;
}

uint64_t heap_take(struct memory *memory, const struct region *region)
{
	if (!memory->heap_start) {
		memory->heap_arena = arena_take(memory, HEAP_ROOM);
		if (memory->heap_arena == UINT64_MAX)
			return UINT64_MAX;
		memory->heap_start = region->start;
	}
	/* Another program's is elsewhere. */
	if (!arena_has_any(memory, memory->heap_arena, HEAP_ROOM))
		memory->heap_start = region->start;
	if (region->start < memory->heap_start ||
	    region->end - memory->heap_start > HEAP_ROOM)
		return UINT64_MAX;
	return memory->heap_arena + (region->start - memory->heap_start);
}
