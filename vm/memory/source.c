/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - what the host maps: files, and memory that it shares itself */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"
#include "vm/memory/family.h"

#define NO_ADDRESS ((uint8_t *)MAP_FAILED)

/*
 * Maps pages that are `offset` bytes from a source's beginning, at `want` if
 * that is not NULL.
 */
static uint8_t *map_at(const struct source *source, uint64_t offset,
		       uint64_t size, uint8_t *want, int type, int prot)
{
	int fixed = want ? MAP_FIXED : 0;
	int move = MREMAP_MAYMOVE | (want ? MREMAP_FIXED : 0);

	if (!source->host)
		return mmap(want, size, prot, type | fixed | MAP_NORESERVE,
			    source->fd, (off_t)offset);
	/* What is shared is mapped once more where it "grows" from nothing. */
	return mremap(source->host + offset, 0, size, move, want);
}

/* The same, as it is permitted. */
static uint8_t *map_any(const struct source *source,
			const struct region *region, uint8_t *want,
			bool *is_limited)
{
	int type = region->kind == REGION_SHARED ? MAP_SHARED : MAP_PRIVATE;
	uint64_t size = region->end - region->start;
	uint8_t *at = map_at(source, region->offset, size, want, type,
			     PROT_READ | PROT_WRITE);

	*is_limited = source->is_limited;
	if (at == NO_ADDRESS && errno == EACCES) {	/* open for reading */
		*is_limited = true;
		at = map_at(source, region->offset, size, want, type,
			    PROT_READ);
	}
	return at;
}

int source_place(struct memory *memory, struct mapping *map,
		 const struct source *source, struct failure *why)
{
	const struct region *region = &map->region;
	uint8_t *alias = NULL;

	if (region->kind == REGION_SHARED && memory->family) {
		family_map_file(memory->family);
		alias = map_any(source, region, NULL, &map->may_renew);
		if (alias == NO_ADDRESS)
			return failed(why, ERR_SYSTEM, "%s", strerror(errno));
	}
	map->alias = alias;
	if (map_any(source, region, memory->arena + map->arena,
		    &map->may_renew) != NO_ADDRESS)
		return 0;
	failed(why, ERR_SYSTEM, "%s", strerror(errno));
	if (alias)
		munmap(alias, mapping_size(map));
	return ERR_SYSTEM;
}

bool source_renew(struct memory *memory, const struct mapping *map,
		  guest_addr addr, uint64_t size, const struct source *source)
{
	uint64_t from = addr - map->region.start;
	uint64_t offset = map->region.offset + from;
	/* Where it is found out whether that can be done at all. */
	uint8_t *at = map_at(source, offset, size, NULL, MAP_SHARED,
			     PROT_READ | PROT_WRITE);

	if (at == NO_ADDRESS)
		return false;
	munmap(at, size);
	if (source->is_limited)
		return false;
	at = map_at(source, offset, size, memory->arena + map->arena + from,
		    MAP_SHARED, PROT_READ | PROT_WRITE);
	if (at != NO_ADDRESS && map->alias)
		at = map_at(source, offset, size, map->alias + from,
			    MAP_SHARED, PROT_READ | PROT_WRITE);
	return at != NO_ADDRESS;
}
