/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sharing.c - memory that several processes of the guest have */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "vm/memory/family.h"

/*
 * While shared memory is in use, the guest stops every 100,000 steps (some 0.1
 * ms) to see whether other processes want it: often enough for one that waits
 * in a loop, seldom enough to cost little.  After 64 looks without a touch it
 * runs freely.  Both are choices.
 */
#define TURN_STEPS UINT64_C(100000)
#define TURNS 64

int memory_share(struct memory *memory, int (*move)(int fd),
		 void (*call)(void *context), void *context,
		 struct failure *why)
{
	int rc = family_create(&memory->family, move, why);

	memory->turns = TURNS;
	if (!rc && call)
		family_watch(memory->family, call, context);
	if (!rc && !memory->tracks && !memory->doubts && !memory->is_linear)
		rc = arena_catch_faults(memory, why);
	return rc;
}

/* Makes a page doubtful, if it still is the known page of a shared mapping. */
static bool doubt_page(struct memory *memory, uint64_t page)
{
	const struct memory_observer *observer = &memory->observer;
	const struct mapping *map = arena_mapping(memory, page);
	guest_addr addr;
	uint64_t doubt;

	if (!map || !mapping_is_shared(map) ||
	    page_state(memory, map, page) & PAGE_CLOSED)
		return false;
	addr = mapping_page(map, page) << GUEST_PAGE_SHIFT;
	code_doubt(memory, map, page);
	doubt = ++memory->newest_doubt;
	memory->state[page] &= (uint8_t)~(PAGE_READ | PAGE_WRITTEN);
	memory->state[page] |= PAGE_DOUBTFUL;
	memory->doubt[page] = doubt;
	if (observer->doubted)
		observer->doubted(observer->context, addr, GUEST_PAGE, doubt);
	return true;
}

void memory_doubt_shared(struct memory *memory)
{
	size_t count = memory->shared_count;

	for (size_t i = 0; i < count;) {
		uint64_t first = memory->shared[i], end = first;

		/* Pages in a row are closed together. */
		for (; i < count && memory->shared[i] == end &&
		       doubt_page(memory, end); i++)
			end++;
		if (end > first)
			arena_protect(memory, first << GUEST_PAGE_SHIFT,
				      (end - first) << GUEST_PAGE_SHIFT, 0);
		else
			i++;	/* it was unmapped meanwhile */
	}
	/* They no longer split mappings of the host. */
	memory->opened -= count < memory->opened ? count : memory->opened;
	memory->shared_count = 0;
	if (memory->family)
		family_leave(memory->family);
}

int memory_map_alone(struct memory *memory, const struct region *region,
		     int fd, struct failure *why)
{
	struct source source = { .fd = fd, .alone = true };
	struct stat file;

	if (!memory_is_mappable(memory, region))
		return failed(why, ERR_NOT_FOUND, "unusable address range");
	if (fstat(fd, &file))
		return failed(why, ERR_SYSTEM, "%s", strerror(errno));
	source.dev = file.st_dev;
	source.ino = file.st_ino;
	return twins_map(memory, region, &source, why);
}

int memory_begin_sharing(struct memory *memory, guest_addr start,
			 uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	uint64_t doubt;
	int rc;

	if (!memory_starts_doubtful(memory, REGION_SHARED))
		return 0;
	doubt = ++memory->newest_doubt;
	rc = memory_set_doubtful(memory, start, size, doubt);
	if (!rc && observer->doubted)
		observer->doubted(observer->context, start, size, doubt);
	return rc;
}

/* What one process has alone, it knows; from here on it does not. */
static int end_alone(struct memory *memory, size_t index)
{
	struct mapping *map = mapping_at(memory, index);

	map->alone = false;
	return memory_begin_sharing(memory, map->region.start,
				    mapping_size(map));
}

int memory_end_alone(struct memory *memory)
{
	int rc = 0;

	for (size_t i = 0; i < memory->count && !rc; i++)
		if (mapping_at(memory, i)->alone)
			rc = end_alone(memory, i);
	return rc;
}

static bool is_others_too(const struct mapping *map)
{
	return map->region.kind == REGION_SHARED && !map->alone;
}

bool memory_others_share(struct memory *memory, guest_addr addr)
{
	const struct mapping *map = memory_find(memory, addr);

	return map && is_others_too(map);
}

void memory_enter(struct memory *memory, guest_addr addr, uint64_t size)
{
	const struct mapping *map;

	for (guest_addr at = addr; memory->family && at - addr < size;
	     at = map->region.end) {
		map = memory_find(memory, at);
		if (!map)
			return;
		if (is_others_too(map)) {
			family_enter(memory->family);
			return;
		}
	}
}

/* What is known to this process, it keeps from the others. */
void memory_leave(struct memory *memory)
{
	if (memory->family && !memory->shared_count)
		family_leave(memory->family);
}

void memory_enter_files(struct memory *memory)
{
	if (memory->family && family_maps_files(memory->family))
		family_enter(memory->family);
}

bool memory_is_wanted(const struct memory *memory)
{
	return memory->family && family_is_wanted(memory->family);
}

uint64_t memory_turn(struct memory *memory)
{
	if (memory->shared_count)
		memory->turns = 0;
	if (!memory->family || memory->turns >= TURNS)
		return UINT64_MAX;
	memory->turns++;
	return TURN_STEPS;
}

void memory_know(struct memory *memory, guest_addr addr, uint64_t size)
{
	guest_addr end = addr + size;

	while (addr < end) {
		struct mapping *map = memory_find(memory, addr);
		guest_addr home = addr;

		if (!map)
			return;
		map = mapping_home(memory, map, &home);
		if (map->alias)
			arena_touch(memory, map,
				    mapping_arena(map, home) >>
					    GUEST_PAGE_SHIFT, false);
		addr = (addr | (GUEST_PAGE - 1)) + 1;
	}
}
