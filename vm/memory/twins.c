/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twins.c - pages that a process maps more than once
 *
 * Where a process maps what it has mapped already, both mappings become
 * aliases of common pages (formats/region.h), which are those that the first
 * one had in the arena.  So the engine has one page, and its translations,
 * which go by arena address, are right for all aliases.  A recording has one
 * page, too.  The contents do not change, but are known under another address
 * from here on: the pages become doubtful.
 *
 * The observer is told nothing but regions and doubts.  A replay makes the same
 * common pages of the regions, and drops them, as here, when their last alias
 * goes.
 */
#include "vm/memory/memory_internal.h"


#include "formats/array.h"
#include "formats/error.h"

static uint64_t region_size(const struct region *region)
{
	return region->end - region->start;
}

/* ------- finding what there is ------- */

/* Whether a mapping is of the same file, or whatever it is. */
static bool is_same(const struct mapping *map, const struct source *source)
{
	return source->ino && map->ino == source->ino &&
	       map->dev == source->dev;
}

static bool is_lower(const struct mapping *a, const struct mapping *b)
{
	return b && a->region.start < b->region.start;
}

/*
 * The mapping that has the first of a region's pages that any has, the lowest
 * of several; NULL if none has.  `*offset` is where in the file these begin.
 */
static struct mapping *find_twin(struct memory *memory,
				 const struct region *region,
				 const struct source *source, uint64_t *offset)
{
	struct mapping *found = NULL;

	*offset = region->offset + region_size(region);
	for (struct mapping *map = memory->first_shared; map;
	     map = map->next) {
		uint64_t from = map->region.offset;

		if (!is_same(map, source) ||
		    from + mapping_size(map) <= region->offset)
			continue;
		if (from < region->offset)
			from = region->offset;
		if (from > *offset || (from == *offset && !is_lower(map, found)))
			continue;
		found = map;
		*offset = from;
	}
	return found;
}

/* Whether something that is shared is mapped in a range. */
static bool has_shared(const struct memory *memory, guest_addr start,
		       guest_addr end)
{
	for (size_t i = memory_index(memory, start); i < memory->count; i++) {
		if (mapping_at(memory, i)->region.start >= end)
			break;
		if (mapping_at(memory, i)->region.kind == REGION_SHARED)
			return true;
	}
	return false;
}

guest_addr memory_address(const struct memory *memory, guest_addr addr)
{
	for (size_t i = 0; is_common(addr) && i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);

		if (map->region.common &&
		    addr - map->region.common < mapping_size(map))
			return map->region.start + (addr - map->region.common);
	}
	return addr;
}

/* ------- common pages ------- */

/* They may hold anything from here on. */
static int doubt_common(struct memory *memory, guest_addr common,
			uint64_t size)
{
	/* New translations are watched, whichever mapping they are of. */
	memory_note_stale(memory, memory_find(memory, common), common, size);
	return memory_begin_sharing(memory, common, size);
}

/*
 * The common address of what is mapped at `addr`, which is a part of one
 * mapping; it becomes an alias if it is none.  0 when out of memory.
 */
static guest_addr make_common(struct memory *memory, guest_addr addr,
			      uint64_t size)
{
	struct mapping *map = memory_find(memory, addr);
	struct mapping pages;

	if (map->region.common)
		return map->region.common + (addr - map->region.start);
	/* One place in the arena has two addresses from here on. */
	memory_end_guarding(memory);
	map = memory_find(memory, addr);
	map = memory_make_room(memory, 3) ?
		      NULL : memory_separate(memory, addr, size);
	if (!map)
		return 0;
	map->alone = false;
	pages = *map;
	pages.region.start = memory_find_gap(memory, size, COMMON_START,
					     GUEST_ADDR_END);
	pages.region.name = memory_intern(memory, "");
	if (!pages.region.start || !pages.region.name)
		return 0;
	pages.region.end = pages.region.start + size;
	pages.region.prot = 0;
	map->region.common = pages.region.start;
	map->alias = NULL;
	map->initial = 0;
	arena_displace(memory, pages.arena, size);
	arena_place(memory, pages.arena, size, pages.region.start);
	memory_insert(memory, &pages);
	memory->generation++;
	memory_tell_mapped(memory, &pages.region, 0);
	memory_tell_mapped(memory, &memory_find(memory, addr)->region, 0);
	return pages.region.start;
}

/* The arena bytes of a range of common pages; UINT64_MAX if it is none. */
static uint64_t find_arena(struct memory *memory, guest_addr common,
			   uint64_t size)
{
	uint64_t start = UINT64_MAX;
	guest_addr at = common;

	while (at < common + size) {
		const struct mapping *map = memory_find(memory, at);

		if (!map)
			return UINT64_MAX;
		if (at == common)
			start = mapping_arena(map, at);
		if (mapping_arena(map, at) != start + (at - common))
			return UINT64_MAX;
		at = map->region.end;
	}
	return start;
}

void twins_are_code(struct memory *memory, const struct mapping *map)
{
	guest_addr common = map->region.common;
	guest_addr end = common + mapping_size(map);

	for (size_t i = memory_index(memory, common); i < memory->count; i++) {
		if (mapping_at(memory, i)->region.start >= end)
			break;
		mapping_at(memory, i)->was_code = true;
	}
}

/* ------- aliases ------- */

static bool is_alias(const struct region *region)
{
	uint64_t size = region_size(region);

	return region->kind == REGION_SHARED && region->end <= COMMON_START &&
	       is_common(region->common) &&
	       memory_is_page_range(region->common, size);
}

/*
 * An alias has the device and inode of its common pages: whoever maps it again
 * in a replay does not say them.
 */
static void take_identity(struct memory *memory, struct mapping *map)
{
	const struct mapping *pages = memory_find(memory, map->region.common);

	map->dev = pages->dev;
	map->ino = pages->ino;
}

int twins_alias(struct memory *memory, const struct region *region,
		struct failure *why)
{
	struct mapping map = { .region = *region };

	/* A replay is told of common pages before anybody makes them. */
	memory_end_guarding(memory);
	map.arena = UINT64_MAX;
	if (is_alias(region))
		map.arena = find_arena(memory, region->common,
				       region_size(region));
	if (map.arena == UINT64_MAX)
		return failed(why, ERR_NOT_FOUND, "no such common pages");
	map.region.name = memory_intern(memory, region->name);
	if (!map.region.name || memory_make_room(memory, 3))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memory_cut_out(memory, region->start, region_size(region));
	take_identity(memory, &map);
	if (region->prot & MAY_EXEC)
		twins_are_code(memory, &map);
	memory_insert(memory, &map);
	memory_join(memory, region->start, region->end);
	memory->generation++;
	memory_tell_mapped(memory, &map.region, 0);
	twins_sweep(memory);
	return 0;
}

/* Maps an alias of what is mapped at `like`, from a source if there is one. */
static int map_twin(struct memory *memory, struct region *region,
		    guest_addr like, const struct source *source,
		    struct failure *why)
{
	uint64_t size = region_size(region);

	bool is_new = !memory_find(memory, like)->region.common;
	struct mapping *pages;

	region->common = make_common(memory, like, size);
	if (!region->common)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	pages = memory_find(memory, region->common);
	if (source && pages->may_renew &&
	    source_renew(memory, pages, region->common, size, source)) {
		pages->may_renew = size < mapping_size(pages);
		is_new = true;
	}
	if (is_new && doubt_common(memory, region->common, size))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return twins_alias(memory, region, why);
}

/* Maps the first part of a region, which may be made shorter. */
static int map_part(struct memory *memory, struct region *region,
		    const struct source *source, struct failure *why)
{
	uint64_t offset;
	struct mapping *twin = find_twin(memory, region, source, &offset);
	uint64_t shift = offset - region->offset;
	uint64_t in_twin, left;

	if (!twin || shift) {
		region->end = region->start + shift;
		region->common = 0;
		return memory_map_own(memory, region, source, why);
	}
	in_twin = offset - twin->region.offset;
	left = mapping_size(twin) - in_twin;
	if (left < region_size(region))
		region->end = region->start + left;
	return map_twin(memory, region, twin->region.start + in_twin, source,
			why);
}

int twins_map(struct memory *memory, const struct region *region,
	      const struct source *source, struct failure *why)
{
	struct region part = *region;
	int rc = 0;

	/* A replay maps part for part: none must need what another replaces. */
	if (has_shared(memory, region->start, region->end))
		rc = memory_unmap(memory, region->start, region_size(region));
	if (rc)
		return failed(why, rc, "out of memory");
	while (part.start < region->end && !rc) {
		part.end = region->end;
		rc = map_part(memory, &part, source, why);
		part.offset += region_size(&part);
		part.start = part.end;
	}
	return rc;
}

int memory_map_again(struct memory *memory, const struct region *region,
		     guest_addr like)
{
	struct mapping *map = memory_find(memory, like);
	struct region twin = *region;

	if (!map || map->region.kind != REGION_SHARED ||
	    !memory_is_page_range(region->start, region_size(region)) ||
	    map->region.end - like < region_size(region) ||
	    (like < region->end && region->start < map->region.end))
		return ERR_NOT_FOUND;
	return map_twin(memory, &twin, like, NULL, NULL);
}

/* ------- when aliases go ------- */

void twins_leave(struct memory *memory, const struct mapping *map)
{
	if (array_room(memory->left, memory->left_count, memory->left_room))
		return; /* the pages stay, no more */
	memory->left[memory->left_count++] = (struct extent){
		.start = map->region.common,
		.end = map->region.common + mapping_size(map),
	};
}

/* The part of an alias's common pages that is in a range. */
static bool shows(const struct mapping *map, guest_addr start, guest_addr end,
		  guest_addr *from, guest_addr *to)
{
	if (!map->region.common)
		return false;
	*from = map->region.common;
	*to = *from + mapping_size(map);
	if (*from < start)
		*from = start;
	if (*to > end)
		*to = end;
	return *from < *to;
}

bool twins_need(const struct memory *memory, guest_addr addr, uint64_t size)
{
	guest_addr end = addr + size, from, to;

	for (size_t i = 0; end > COMMON_START && i < memory->count; i++) {
		const struct mapping *map = mapping_at(memory, i);
		bool inside = map->region.start >= addr &&
			      map->region.end <= end;

		if (!inside && shows(map, addr, end, &from, &to))
			return true;
	}
	return false;
}

/* Whether an alias has the page at `at`; and up to where that is so. */
static bool is_used(const struct memory *memory, guest_addr at,
		    guest_addr *end)
{
	guest_addr from, to;

	for (size_t i = 0; i < memory->count; i++) {
		if (!shows(mapping_at(memory, i), at, *end, &from, &to))
			continue;
		*end = from == at ? to : from;
		if (from == at)
			return true;
	}
	return false;
}

void twins_sweep(struct memory *memory)
{
	while (memory->left_count) {
		struct extent left = memory->left[--memory->left_count];

		while (left.start < left.end) {
			guest_addr end = left.end;

			if (!is_used(memory, left.start, &end))
				memory_unmap(memory, left.start,
					     end - left.start);
			left.start = end;
		}
	}
}

guest_addr memory_home(struct memory *memory, guest_addr addr)
{
	struct mapping *map = memory_find(memory, addr);

	if (map)
		mapping_home(memory, map, &addr);
	return addr;
}
