/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings.c - the sorted array of mappings: finding, dividing and joining them
 */
#include "vm/memory/memory_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

size_t memory_index(const struct memory *memory, guest_addr addr)
{
	size_t low = 0, high = memory->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mapping_at(memory, middle)->region.end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mapping *memory_find(struct memory *memory, guest_addr addr)
{
	struct mapping *map = memory->last;
	size_t index;

	if (map && map->region.start <= addr && addr < map->region.end)
		return map;
	index = memory_index(memory, addr);
	if (index == memory->count)
		return NULL;
	map = mapping_at(memory, index);
	if (map->region.start > addr)
		return NULL;
	memory->last = map;
	return map;
}

/* Moves the unused room to before an index. */
static void move_gap(struct memory *memory, size_t index)
{
	size_t unused = memory->room - memory->count;
	struct mapping **maps = memory->maps;

	if (index < memory->gap)
		memmove(maps + index + unused, maps + index,
			(memory->gap - index) * sizeof(*maps));
	else if (index > memory->gap)
		memmove(maps + memory->gap, maps + memory->gap + unused,
			(index - memory->gap) * sizeof(*maps));
	memory->gap = index;
}

int memory_make_room(struct memory *memory, size_t more)
{
	if (arena_make_room(memory, more))
		return ERR_NO_MEMORY;
	if (memory->count + more > memory->room) {
		move_gap(memory, memory->count);
		if (array_reserve(memory->maps, memory->count + more,
				  memory->room))
			return ERR_NO_MEMORY;
	}
	if (array_reserve(memory->spare, memory->count + more,
			  memory->spare_room))
		return ERR_NO_MEMORY;
	while (memory->spare_count < more) {
		struct mapping *map = malloc(sizeof(*map));

		if (!map)
			return ERR_NO_MEMORY;
		memory->spare[memory->spare_count++] = map;
	}
	return 0;
}

static uint64_t counted_size(const struct mapping *map)
{
	return is_common(map->region.start) ? 0 : mapping_size(map);
}

/* Lists a mapping that is shared: there are few as a rule. */
static void list_shared(struct memory *memory, struct mapping *map)
{
	map->link = NULL;
	if (map->region.kind != REGION_SHARED || is_common(map->region.start))
		return;
	map->next = memory->first_shared;
	map->link = &memory->first_shared;
	memory->first_shared = map;
	if (map->next)
		map->next->link = &map->next;
}

static void unlist(struct mapping *map)
{
	if (!map->link)
		return;
	*map->link = map->next;
	if (map->next)
		map->next->link = map->link;
}

static void insert(struct memory *memory, size_t index,
		   const struct mapping *map)
{
	struct mapping *own;

	assert(memory->spare_count && memory->count < memory->room);
	own = memory->spare[--memory->spare_count];
	*own = *map;
	list_shared(memory, own);
	move_gap(memory, index);
	memory->maps[memory->gap++] = own;
	memory->count++;
	memory->size += counted_size(map);
}

void memory_insert(struct memory *memory, const struct mapping *map)
{
	insert(memory, memory_index(memory, map->region.start), map);
}

void memory_erase(struct memory *memory, size_t first, size_t count)
{
	move_gap(memory, first + count);
	for (size_t i = first; i < first + count; i++) {
		memory->size -= counted_size(memory->maps[i]);
		unlist(memory->maps[i]);
		/* There is room: it was made for all that came. */
		memory->spare[memory->spare_count++] = memory->maps[i];
	}
	memory->gap = first;
	memory->count -= count;
	memory->last = NULL;
}

void memory_release_mappings(struct memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		free(mapping_at(memory, i));
	for (size_t i = 0; i < memory->spare_count; i++)
		free(memory->spare[i]);
	free(memory->maps);
	free(memory->spare);
}

void memory_split(struct memory *memory, guest_addr addr)
{
	size_t index = memory_index(memory, addr);
	struct mapping *map, tail;

	if (index == memory->count)
		return;
	map = mapping_at(memory, index);
	if (map->region.start >= addr)
		return;
	tail = *map;
	tail.arena = mapping_arena(map, addr);
	if (tail.alias)
		tail.alias += addr - map->region.start;
	if (tail.region.kind != REGION_ANON)
		tail.region.offset += addr - map->region.start;
	if (tail.region.common)
		tail.region.common += addr - map->region.start;
	tail.region.start = addr;
	memory->size -= counted_size(&tail);
	map->region.end = addr;
	insert(memory, index + 1, &tail);
}

struct mapping *memory_separate(struct memory *memory, guest_addr addr,
				uint64_t size)
{
	if (memory_make_room(memory, 2))
		return NULL;
	memory_split(memory, addr);
	memory_split(memory, addr + size);
	return memory_find(memory, addr);
}

/* Whether the pages of two mappings are in a row where they are common. */
static bool is_common_row(const struct mapping *a, const struct mapping *b)
{
	if (!a->region.common || !b->region.common)
		return a->region.common == b->region.common;
	return a->region.common + mapping_size(a) == b->region.common;
}

bool memory_continues(const struct mapping *a, const struct mapping *b)
{
	uint64_t size = mapping_size(a);

	return a->region.end == b->region.start && a->arena + size == b->arena &&
	       a->region.prot == b->region.prot &&
	       a->region.kind == b->region.kind &&
	       a->region.name == b->region.name &&
	       a->was_code == b->was_code &&
	       a->may_change == b->may_change &&
	       a->may_renew == b->may_renew && a->alone == b->alone &&
	       a->dev == b->dev &&
	       a->ino == b->ino && is_common_row(a, b) &&
	       (a->alias ? a->alias + size == b->alias : !b->alias) &&
	       (a->region.kind == REGION_ANON ||
		a->region.offset + size == b->region.offset);
}

/* Whether it is for us, too. */
static bool is_like(const struct mapping *a, const struct mapping *b)
{
	return a->initial == b->initial && a->shift == b->shift &&
	       (!(a->initial & PAGE_DOUBTFUL) || a->doubt == b->doubt);
}

void memory_join(struct memory *memory, guest_addr start, guest_addr end)
{
	size_t index = memory_index(memory, start ? start - 1 : 0);

	while (index + 1 < memory->count &&
	       mapping_at(memory, index)->region.start <= end) {
		struct mapping *map = mapping_at(memory, index);
		struct mapping *next = mapping_at(memory, index + 1);

		if (!memory_continues(map, next) || !is_like(map, next)) {
			index++;
			continue;
		}
		map->region.end = next->region.end;
		memory->size += counted_size(next);
		memory_erase(memory, index + 1, 1);
	}
}

/* Whether every byte of the range is mapped. */
static bool is_covered(const struct memory *memory, guest_addr addr,
		       uint64_t size)
{
	guest_addr end = addr + size;

	for (size_t i = memory_index(memory, addr); addr < end; i++) {
		if (i == memory->count || mapping_at(memory, i)->region.start > addr)
			return false;
		addr = mapping_at(memory, i)->region.end;
	}
	return true;
}

bool memory_is_page_range(guest_addr addr, uint64_t size)
{
	guest_addr limit = is_common(addr) ? GUEST_ADDR_END : ADDRESS_LIMIT;

	return !(addr % GUEST_PAGE) && !(size % GUEST_PAGE) && size &&
	       addr < limit && size <= limit - addr;
}

bool memory_is_mapped(const struct memory *memory, guest_addr addr,
		      uint64_t size)
{
	return memory_is_page_range(addr, size) && is_covered(memory, addr, size);
}
