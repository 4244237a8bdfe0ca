/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.c - faults of the host that are first touches of guest memory */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <sys/mman.h>

/* ------- first touches ------- */

static bool on_fault(void *context, const uint8_t *at, bool writes)
{
	struct memory *memory = context;
	uint64_t page = (uint64_t)(at - memory->arena) >> GUEST_PAGE_SHIFT;
	const struct mapping *map = arena_mapping(memory, page);

	if (map)
		arena_touch(memory, map, page, writes);
	return map;
}

/* ------- pages of a file that has become shorter ------- */

/* The mapping that has a host address, in the arena or as its alias. */
static struct mapping *find_host(struct memory *memory, const uint8_t *at,
				 guest_addr *addr)
{
	uint64_t offset = (uint64_t)(at - memory->arena);
	struct mapping *map;

	if (offset < memory->arena_size) {
		map = arena_mapping(memory, offset >> GUEST_PAGE_SHIFT);
		if (map)
			*addr = map->region.start + (offset - map->arena);
		return map;
	}
	for (size_t i = 0; i < memory->count; i++) {
		map = mapping_at(memory, i);
		if (map->alias && (uint64_t)(at - map->alias) <
					  mapping_size(map)) {
			*addr = map->region.start + (uint64_t)(at - map->alias);
			return map;
		}
	}
	return NULL;
}

/* Zeros take the place of the page, and its memory is told. */
static bool on_missing(void *context, uint8_t *at)
{
	struct memory *memory = context;
	struct mapping *map = NULL;
	guest_addr addr;

	if (memory->lost)
		map = find_host(memory, at, &addr);
	if (!map ||
	    mmap(at - addr % GUEST_PAGE, GUEST_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	memory->was_lost = map->may_renew = true;
	memory->lost(memory->lost_context, memory_address(memory, addr),
		     memory->by_kernel);
	return true;
}

void memory_on_lost(struct memory *memory,
		    void (*lost)(void *context, guest_addr addr, bool kernel),
		    void *context)
{
	memory->lost = lost;
	memory->lost_context = context;
}

void memory_on_sent(struct memory *memory, memory_signal *sent)
{
	memory->faults.sent = sent;
}

/* ------- both ------- */

int arena_catch_faults(struct memory *memory, struct failure *why)
{
	memory->faults.start = memory->arena;
	memory->faults.size = memory->arena_size;
	memory->faults.fault = on_fault;
	memory->faults.missing = on_missing;
	memory->faults.context = memory;
	return host_faults_catch(&memory->faults, why);
}

void arena_leave_faults(struct memory *memory)
{
	host_faults_leave(&memory->faults);
}
