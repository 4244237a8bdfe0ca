/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_internal.h - the address space as vm.c and the parts of memory see it
 *
 * A mapping is a region and the arena bytes behind it.  Arena pages have a
 * state each, in arrays that are as sparse as the arena itself.
 */
#ifndef CPREC_VM_MEMORY_INTERNAL_H
#define CPREC_VM_MEMORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/memory.h"

struct mapping {
	struct region region;
	uint64_t arena;		/* offset of region.start in the arena */
	uint8_t *alias;		/* of a shared mapping: host address where the
				   kernel sees it, always open; else NULL */
	bool was_code;		/* was executable at some time */
};

/* A range of the arena that nobody uses. */
struct hole {
	uint64_t start, end;
};

/* States of an arena page.  Doubt is kept apart, as a number. */
enum page_state {
	PAGE_READ = 1,		/* the host may read it */
	PAGE_WRITTEN = 2,	/* the host may write it */
	PAGE_ABSENT = 4,	/* contents are to be supplied */
	PAGE_WAS_READ_BEFORE = 16,	/* until memory_arm() closed it */
	PAGE_WAS_WRITTEN_BEFORE = 32,
	PAGE_SHARED = 64,	/* of a shared mapping */
};

struct views;

struct memory {
	struct memory_observer observer;
	bool tracks;		/* observer.first_write is set */
	bool doubts;		/* observer.resolve is set */

	uint8_t *arena;
	uint64_t arena_size;
	uint64_t used;		/* the arena beyond was never used */
	uint64_t heap_arena;	/* where "[heap]" lives: room to grow */
	guest_addr heap_start;
	struct hole *holes;
	size_t hole_count, hole_room;

	struct mapping *maps;	/* sorted by address */
	size_t count, room;
	size_t last;		/* where the last look-up ended */

	/* By arena page. */
	uint8_t *state;
	uint32_t *doubt;
	uint64_t *guest;	/* its guest page */
	uint64_t *origin;	/* absent pages: guest page to be supplied */

	uint64_t opened;	/* pages, since all were closed */
	struct family *family;	/* NULL: memory is not shared */
	uint64_t *shared;	/* known pages of shared mappings */
	size_t shared_count, shared_room;
	unsigned turns;		/* looks since shared memory was last touched */

	struct views *views;	/* NULL: there is one thread, or nobody asks */

	uint64_t newest_doubt;
	uint64_t generation;	/* counts changes of the address space */

	/* Executable ranges whose contents the host changed. */
	struct {
		guest_addr addr;
		uint64_t size;
	} *stale;
	size_t stale_count, stale_room;

	struct region *view;	/* what memory_regions() returned */
	size_t view_room;
	uint64_t view_generation;

	char **names;		/* interned */
	size_t name_count, name_room;
};

/* The mapping that holds `addr`, or NULL. */
struct mapping *memory_find(struct memory *memory, guest_addr addr);

/* Index of the first mapping that ends above `addr`. */
size_t memory_index(const struct memory *memory, guest_addr addr);

/*
 * Notes that the host changed these bytes of a mapping: translations of them,
 * if there are any, must go before the guest runs.
 */
void memory_note_stale(struct memory *memory, const struct mapping *map,
		       guest_addr addr, uint64_t size);

static inline uint64_t mapping_arena(const struct mapping *map, guest_addr addr)
{
	return map->arena + (addr - map->region.start);
}

/*
 * Whether pages of such a region start doubtful, where they come from
 * somewhere else.
 */
static inline bool memory_starts_doubtful(const struct memory *memory,
					  enum region_kind kind)
{
	return (memory->doubts && memory->tracks) ||
	       (memory->family && kind == REGION_SHARED);
}

/* ------- arena.c ------- */

int arena_create(struct memory *memory, struct failure *why);
void arena_destroy(struct memory *memory);

/* Takes `size` bytes of the arena; (uint64_t)-1 when it is used up. */
uint64_t arena_take(struct memory *memory, uint64_t size);

/* Gives arena bytes back; `reuse` if they may be handed out again. */
void arena_give(struct memory *memory, uint64_t start, uint64_t size,
		bool reuse);

/* Sets what the host may do with pages: PAGE_READ | PAGE_WRITTEN bits. */
void arena_protect(struct memory *memory, uint64_t start, uint64_t size,
		   unsigned state);

/* Opens an arena page for a read or a write, telling the observer. */
void arena_touch(struct memory *memory, uint64_t page, bool write);

/* Takes SIGSEGV for this memory: first touches of tracked pages. */
int arena_catch_faults(struct memory *memory, struct failure *why);

#endif
