/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.c - faults of the host that are first touches of guest memory */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <sys/mman.h>

/* ------- first touches ------- */

/* Whether the guest could access a page, as far as touches go. */
static bool is_open(const struct memory *memory, const struct mapping *map,
		    uint64_t page, bool writes)
{
	unsigned state = page_state(memory, map, page);

	return !(state & PAGE_CLOSED) &&
	       state & (writes ? PAGE_WRITTEN : PAGE_READ | PAGE_WRITTEN);
}

static bool on_fault(void *context, const uint8_t *at, bool writes)
{
	struct memory *memory = context;
	uint64_t page = (uint64_t)(at - memory->arena) >> GUEST_PAGE_SHIFT;
	const struct mapping *map = arena_mapping(memory, page);

	if (!map)
		return false;
	/* What the guest may not do, but the host for it. */
	if (memory->is_guarded && is_open(memory, map, page, writes))
		arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
			      PAGE_READ | PAGE_WRITTEN);
	else
		arena_touch(memory, map, page, writes);
	return true;
}

bool memory_admit(struct memory *memory, const uint8_t *at, bool writes)
{
	uint64_t offset = (uint64_t)(at - memory->arena);
	uint64_t page = offset >> GUEST_PAGE_SHIFT;
	const struct mapping *map;

	if (offset >= LINEAR_SIZE)
		return false;
	map = arena_mapping(memory, page);
	if (!map || map->arena != map->region.start ||
	    !(map->region.prot &
	      (writes ? MAY_WRITE : MAY_READ | MAY_WRITE | MAY_EXEC)))
		return false;
	if (is_open(memory, map, page, writes) &&
	    memory->block[page / PAGE_BLOCK])
		return false;
	arena_touch(memory, map, page, writes);
	return true;
}

void memory_on_guest_fault(struct memory *memory, memory_guest_fault *fault,
			   void *context)
{
	memory->faults.guest = fault;
	memory->faults.guest_context = context;
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
	if ((uint64_t)(at - memory->arena) < memory->arena_size)
		guard_renew(memory, addr - addr % GUEST_PAGE, GUEST_PAGE);
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
