/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - the guest's address space, and how it changes */
#include "vm/memory/memory_internal.h"
#include "vm/memory/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/memory/family.h"

int memory_create(struct memory **out, const struct memory_observer *observer,
		  struct failure *why)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	int rc;

	if (!memory)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (observer)
		memory->observer = *observer;
	memory->tracks = memory->observer.first_write != NULL;
	memory->doubts = memory->observer.resolve != NULL;
	memory->asks = memory->doubts && !memory->tracks;
	rc = arena_create(memory, why);
	if (!rc && memory->tracks)
		rc = arena_catch_faults(memory, why);
	if (rc) {
		memory_destroy(memory);
		return rc;
	}
	*out = memory;
	return 0;
}

static void drop_alias(const struct mapping *map)
{
	if (map->alias)
		munmap(map->alias, mapping_size(map));
}

void memory_destroy(struct memory *memory)
{
	if (!memory)
		return;
	memory_doubt_shared(memory);
	family_destroy(memory->family);
	for (size_t i = 0; i < memory->count; i++)
		drop_alias(mapping_at(memory, i));
	arena_leave_faults(memory);
	arena_destroy(memory);
	views_destroy(memory->views);
	number_map_release(&memory->code_doubts);
	number_map_release(&memory->code_pages);
	free(memory->lent);
	for (size_t i = 0; i < memory->name_count; i++)
		free(memory->names[i]);
	free(memory->names);
	memory_release_mappings(memory);
	free(memory->stale);
	free(memory->shared);
	free(memory->left);
	free(memory->view);
	free(memory);
}

void memory_note_stale(struct memory *memory, const struct mapping *map,
		       guest_addr addr, uint64_t size)
{
	map = mapping_home(memory, (struct mapping *)map, &addr);
	if (!map->was_code)
		return;
	if (array_room(memory->stale, memory->stale_count, memory->stale_room))
		give_up("out of memory");	/* stale code would run */
	memory->stale[memory->stale_count].addr = addr;
	memory->stale[memory->stale_count++].size = size;
}

void memory_note_changed(struct memory *memory, struct mapping *map,
			 guest_addr addr, uint64_t size)
{
	map->may_change = true;
	memory_note_stale(memory, map, addr, size);
}

static bool may_have_code(const struct mapping *map)
{
	return map->was_code || map->region.common;
}

/* Where code is, the address space is as before unless it `has_code`. */
static void note_change(struct memory *memory, bool has_code)
{
	memory->generation++;
	memory->of_data += !has_code;
}

void memory_cut_out(struct memory *memory, guest_addr addr, uint64_t size)
{
	bool has_code = false;
	size_t first, end;

	memory_split(memory, addr);
	memory_split(memory, addr + size);
	first = memory_index(memory, addr);
	for (end = first; end < memory->count; end++) {
		struct mapping *map = mapping_at(memory, end);
		bool heap;

		if (map->region.start >= addr + size)
			break;
		has_code |= may_have_code(map);
		if (map->region.common) {
			twins_leave(memory, map);
			continue;
		}
		heap = heap_holds(memory, map);
		drop_alias(map);
		/* Something else may come to be there. */
		if (is_in_line(memory, map->arena, mapping_size(map)))
			memory_note_stale(memory, map, map->region.start,
					  mapping_size(map));
		arena_displace(memory, map->arena, mapping_size(map));
		arena_give(memory, map->arena, mapping_size(map),
			   !map->was_code && !heap);
	}
	memory_erase(memory, first, end - first);
	gaps_note(memory, addr);
	note_change(memory, has_code);
}

static uint64_t take(struct memory *memory, const struct region *region)
{
	uint64_t start = UINT64_MAX;

	if (memory->is_guarded &&
	    is_in_line(memory, region->start, region->end - region->start))
		return region->start;
	if (region_grows(region) && !memory->is_guarded)
		start = heap_take(memory, region);
	if (start == UINT64_MAX)
		start = arena_take(memory, region->end - region->start);
	return start;
}

static void start_pages(struct memory *memory, struct mapping *map,
			uint64_t doubt)
{
	map->doubt = doubt;
	if (doubt)
		map->initial = PAGE_DOUBTFUL;
	else if (!memory->tracks)
		map->initial = PAGE_READ | PAGE_WRITTEN;
	/* What was never used is closed. */
	if (map->initial & PAGE_READ || map->region.kind != REGION_ANON)
		arena_protect(memory, map->arena, mapping_size(map),
			      map->initial);
}

void memory_tell_mapped(struct memory *memory, const struct region *region,
			uint64_t doubt)
{
	const struct memory_observer *observer = &memory->observer;

	if (observer->mapped)
		observer->mapped(observer->context, region);
	if (doubt && observer->doubted)
		observer->doubted(observer->context, region->start,
				  region->end - region->start, doubt);
}

int memory_map_own(struct memory *memory, const struct region *region,
		   const struct source *source, struct failure *why)
{
	uint64_t size = region->end - region->start;
	struct mapping map = { .region = *region, .dev = source->dev,
			       .ino = source->ino, .alone = source->alone };
	uint64_t doubt = 0;
	int rc;

	map.region.name = memory_intern(memory, region->name);
	if (!map.region.name || memory_make_room(memory, 3))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memory_cut_out(memory, region->start, size);
	map.was_code = region->prot & MAY_EXEC;
	map.may_change = region->prot & MAY_WRITE;
	map.arena = take(memory, region);
	if (map.arena == UINT64_MAX)
		return failed(why, ERR_NO_MEMORY,
			      "guest memory is used up: there are %" PRIu64
			      " MiB of address space for it (ulimit -v)",
			      memory->arena_size >> 20);
	if (source->fd >= 0 || source->host) {
		rc = source_place(memory, &map, source, why);
		if (rc) {
			arena_give(memory, map.arena, size, true);
			return rc;
		}
		if (memory_starts_doubtful(memory, region->kind) &&
		    !source->alone)
			doubt = ++memory->newest_doubt;
	}
	start_pages(memory, &map, doubt);
	arena_place(memory, map.arena, size, region->start);
	memory_insert(memory, &map);
	memory_join(memory, region->start, region->end);
	note_change(memory, map.was_code);
	memory_tell_mapped(memory, &map.region, doubt);
	twins_sweep(memory);
	return 0;
}

bool memory_is_mappable(const struct memory *memory,
			const struct region *region)
{
	uint64_t size = region->end - region->start;

	return memory_is_page_range(region->start, size) &&
	       !twins_need(memory, region->start, size);
}

int memory_map(struct memory *memory, const struct region *region, int fd,
	       struct failure *why)
{
	struct source source = { .fd = fd };
	struct stat file;

	if (!memory_is_mappable(memory, region))
		return failed(why, ERR_NOT_FOUND, "unusable address range");
	if (region->common)
		return twins_alias(memory, region, why);
	if (fd >= 0 && !fstat(fd, &file)) {
		source.dev = file.st_dev;
		source.ino = file.st_ino;
	}
	if (fd >= 0 && region->kind == REGION_SHARED)
		return twins_map(memory, region, &source, why);
	return memory_map_own(memory, region, &source, why);
}

int memory_attach(struct memory *memory, const struct region *region,
		  uint8_t *host, bool is_limited, uint64_t number,
		  struct failure *why)
{
	const struct source source = { .fd = -1, .host = host,
				       .is_limited = is_limited,
				       .dev = MEMORY_ATTACHED,
				       .ino = number + 1 };

	if (!memory_is_mappable(memory, region))
		return failed(why, ERR_NOT_FOUND, "unusable address range");
	return twins_map(memory, region, &source, why);
}

int memory_unmap(struct memory *memory, guest_addr addr, uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;

	if (!memory_is_page_range(addr, size) || twins_need(memory, addr, size))
		return ERR_NOT_FOUND;
	if (memory_make_room(memory, 2))
		return ERR_NO_MEMORY;
	memory_cut_out(memory, addr, size);
	if (observer->unmapped)
		observer->unmapped(observer->context, addr, size);
	twins_sweep(memory);
	return 0;
}

void memory_unmap_all(struct memory *memory)
{
	memory_unmap(memory, 0, ADDRESS_LIMIT);
	memory_unmap(memory, COMMON_START, GUEST_ADDR_END - COMMON_START);
}

int memory_protect(struct memory *memory, guest_addr addr, uint64_t size,
		   unsigned prot)
{
	const struct memory_observer *observer = &memory->observer;
	bool has_code = prot & MAY_EXEC;

	if (!memory_is_mapped(memory, addr, size))
		return ERR_NOT_FOUND;
	if (memory_make_room(memory, 2))
		return ERR_NO_MEMORY;
	memory_split(memory, addr);
	memory_split(memory, addr + size);
	for (size_t i = memory_index(memory, addr);
	     i < memory->count && mapping_at(memory, i)->region.start < addr + size;
	     i++) {
		struct mapping *map = mapping_at(memory, i);

		has_code |= may_have_code(map);
		/* From here on, writes to its code are to be noticed. */
		if (prot & ~map->region.prot & MAY_WRITE && map->was_code)
			memory_note_stale(memory, map, map->region.start,
					  mapping_size(map));
		map->region.prot = prot;
		map->may_change |= (prot & MAY_WRITE) != 0;
		if (prot & MAY_EXEC && map->region.common)
			twins_are_code(memory, map);
		else if (prot & MAY_EXEC)
			map->was_code = true;
	}
	memory_join(memory, addr, addr + size);
	note_change(memory, has_code);
	if (memory->is_guarded)
		guard_renew(memory, addr, size);
	if (observer->protected)
		observer->protected(observer->context, addr, size, prot);
	return 0;
}

/* Whether pages are moved in the arena, too. */
static bool moves(const struct memory *memory, guest_addr from, guest_addr to,
		  uint64_t size)
{
	return memory->is_guarded && is_in_line(memory, from, size) &&
	       is_in_line(memory, to, size);
}

/* Has the mapping begin at another address. */
static void relocate(struct memory *memory, struct mapping *map, guest_addr to)
{
	uint64_t size = mapping_size(map), place = map->arena;

	if (moves(memory, map->region.start, to, size)) {
		memory_note_stale(memory, map, map->region.start, size);
		memory_note_stale(memory, map, to, size);
		place = to;
	}

	if (memory->observer.supply && !map->region.common)
		map->shift += (int64_t)(map->region.start - to) >>
			      GUEST_PAGE_SHIFT;
	map->region.start = to;
	map->region.end = to + size;
	if (map->region.common)
		return;
	arena_displace(memory, map->arena, size);
	map->arena = place;
	arena_place(memory, map->arena, size, to);
}

int memory_move(struct memory *memory, guest_addr from, guest_addr to,
		uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	struct mapping *moved;
	size_t first, count;

	if (!memory_is_mapped(memory, from, size) ||
	    !memory_is_page_range(to, size) ||
	    (from < to + size && to < from + size) ||
	    twins_need(memory, from, size) || twins_need(memory, to, size))
		return ERR_NOT_FOUND;
	if (memory_make_room(memory, 4))
		return ERR_NO_MEMORY;
	memory_cut_out(memory, to, size);
	memory_split(memory, from);
	memory_split(memory, from + size);
	if (moves(memory, from, to, size) && guard_move(memory, from, to, size))
		return ERR_NO_MEMORY;
	first = memory_index(memory, from);
	count = memory_index(memory, from + size - 1) + 1 - first;
	moved = malloc(count * sizeof(*moved));
	if (!moved)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < count; i++)
		moved[i] = *mapping_at(memory, first + i);
	memory_erase(memory, first, count);
	gaps_note(memory, from);
	for (size_t i = 0; i < count; i++) {
		relocate(memory, &moved[i],
			 moved[i].region.start + (to - from));
		memory_insert(memory, &moved[i]);
	}
	free(moved);
	memory_join(memory, to, to + size);
	memory->generation++;
	if (memory->is_guarded)
		guard_renew(memory, to, size);
	if (observer->moved)
		observer->moved(observer->context, from, to, size);
	twins_sweep(memory);
	return 0;
}

/* Drops the pages of one mapping; those of a file are doubtful again. */
static int clear_pages(struct memory *memory, struct mapping *map,
		       guest_addr addr, uint64_t size, uint64_t doubt)
{
	uint64_t at = mapping_arena(map, addr);

	if (memory->views)
		views_forget(memory->views, at >> GUEST_PAGE_SHIFT,
			     size >> GUEST_PAGE_SHIFT);
	madvise(memory->arena + at, size, MADV_DONTNEED);
	memory_note_changed(memory, map, addr, size);
	if (doubt)
		return pages_doubt(memory, map, addr, size, doubt, false);
	return pages_clear(memory, map, addr, size);
}

static void tell_cleared(struct memory *memory, guest_addr addr, uint64_t size)
{
	memory->observer.cleared(memory->observer.context, addr, size);
}

/* The same for part of a mapping that is no alias. */
static int clear_part(struct memory *memory, struct mapping *map,
		      guest_addr addr, uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	uint64_t doubt = 0;
	int rc;

	if (map->region.kind != REGION_ANON &&
	    memory_starts_doubtful(memory, map->region.kind))
		doubt = ++memory->newest_doubt;
	rc = clear_pages(memory, map, addr, size, doubt);
	if (!rc && doubt && observer->doubted)
		observer->doubted(observer->context, addr, size, doubt);
	return rc;
}

int memory_clear(struct memory *memory, guest_addr addr, uint64_t size)
{
	guest_addr end = addr + size;

	if (!memory_is_mapped(memory, addr, size))
		return ERR_NOT_FOUND;
	if (memory->observer.cleared)
		memory_each_home(memory, addr, size, tell_cleared);
	for (guest_addr at = addr; at < end;) {
		guest_addr from = at;
		struct mapping *map = memory_find(memory, at);
		guest_addr stop = map->region.end < end ? map->region.end : end;
		int rc;

		map = mapping_home(memory, map, &from);
		if (stop - at > map->region.end - from)
			stop = at + (map->region.end - from);
		rc = clear_part(memory, map, from, stop - at);
		if (rc)
			return rc;
		at = stop;
	}
	return 0;
}
