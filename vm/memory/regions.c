/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regions.c - what is mapped, for others to see */
#include "vm/memory/memory_internal.h"

#include "formats/error.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

/* ------- names ------- */

const char *memory_intern(struct memory *memory, const char *name)
{
	char **names;

	if (!name)
		name = "";
	for (size_t i = 0; i < memory->name_count; i++)
		if (!strcmp(memory->names[i], name))
			return memory->names[i];
	if (array_room(memory->names, memory->name_count, memory->name_room))
		return NULL;
	names = &memory->names[memory->name_count];
	*names = strdup(name);
	if (*names)
		memory->name_count++;
	return *names;
}

const struct region *memory_all_regions(const struct memory *memory,
					size_t *count)
{
	/* The view is a cache of what the caller may see. */
	struct memory *own = (struct memory *)memory;

	if (memory->view && memory->view_generation == memory->generation) {
		*count = memory->view_count;
		return memory->view;
	}
	if (memory->view_room < memory->count || !memory->view) {
		size_t room = memory->count + 16;
		struct region *view = realloc(own->view, room * sizeof(*view));

		if (!view)
			give_up("out of memory");
		own->view = view;
		own->view_room = room;
	}
	own->view_count = own->view_own = 0;
	for (size_t i = 0; i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);

		if (i > 0 && memory_continues(mapping_at(memory, i - 1), map))
			own->view[own->view_count - 1].end = map->region.end;
		else
			own->view[own->view_count++] = map->region;
		if (!is_common(map->region.start))
			own->view_own = own->view_count;
	}
	own->view_generation = memory->generation;
	*count = memory->view_count;
	return memory->view;
}

const struct region *memory_regions(const struct memory *memory, size_t *count)
{
	const struct region *all = memory_all_regions(memory, count);

	*count = memory->view_own;
	return all;
}

const struct region *memory_region_at(const struct memory *memory,
				      guest_addr addr)
{
	struct mapping *map = memory_find((struct memory *)memory, addr);

	return map ? &map->region : NULL;
}

const struct region *memory_region_from(const struct memory *memory,
					guest_addr addr)
{
	size_t index = memory_index(memory, addr);

	if (index == memory->count ||
	    is_common(mapping_at(memory, index)->region.start))
		return NULL;
	return &mapping_at(memory, index)->region;
}

guest_addr memory_limited_from(const struct memory *memory, guest_addr addr,
			       guest_addr end)
{
	for (size_t i = memory_index(memory, addr); i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);

		if (map->region.start >= end)
			break;
		/* Common pages may be another mapping's to write. */
		if (map->region.kind == REGION_SHARED && !map->region.common &&
		    map->may_renew)
			return map->region.start > addr ? map->region.start :
							  addr;
	}
	return end;
}

bool memory_attached_at(const struct memory *memory, guest_addr addr,
			uint64_t *number)
{
	const struct mapping *map =
		memory_find((struct memory *)memory, addr);

	if (!map || map->dev != MEMORY_ATTACHED)
		return false;
	*number = map->ino - 1;
	return true;
}

uint64_t memory_size(const struct memory *memory)
{
	return memory->size;
}

size_t memory_count_attached(const struct memory *memory, uint64_t number)
{
	size_t count = 0;

	for (size_t i = 0; i < memory->count; i++)
		count += mapping_at(memory, i)->dev == MEMORY_ATTACHED &&
			 mapping_at(memory, i)->ino == number + 1 &&
			 !is_common(mapping_at(memory, i)->region.start);
	return count;
}

bool memory_file_at(const struct memory *memory, guest_addr addr,
		    uint64_t *dev, uint64_t *ino)
{
	const struct mapping *map =
		memory_find((struct memory *)memory, addr);

	if (!map || !map->ino || map->dev == MEMORY_ATTACHED)
		return false;
	*dev = map->dev;
	*ino = map->ino;
	return true;
}
