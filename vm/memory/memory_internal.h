/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_internal.h - the address space as vm.c and the parts of memory see it
 *
 * A mapping is a region and the arena bytes behind it.  A page of the arena
 * has its mapping's state until something happens to it; then it gets a state
 * of its own, in arrays that are as sparse as the arena itself.  So pages that
 * are never touched cost nothing.
 */
#ifndef CPREC_VM_MEMORY_MEMORY_INTERNAL_H
#define CPREC_VM_MEMORY_MEMORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "vm/memory/host_faults.h"
#include "vm/memory/memory.h"

/* States of an arena page. */
enum page_state {
	PAGE_READ = 1,		/* the host may read it */
	PAGE_WRITTEN = 2,	/* the host may write it */
	PAGE_ABSENT = 4,	/* contents are to be supplied */
	PAGE_OWN = 8,		/* this page has a state of its own */
	/* A replay: it holds what was supplied as this page, if its mapping
	   cannot have changed: see memory_restart(). */
	PAGE_SUPPLIED = 16,
	PAGE_WAS_READ_BEFORE = 16,	/* until memory_arm() closed it */
	PAGE_WAS_WRITTEN_BEFORE = 32,
	PAGE_WAS_TOUCHED_BEFORE =
		PAGE_WAS_READ_BEFORE | PAGE_WAS_WRITTEN_BEFORE,
	PAGE_DOUBTFUL = 64,
	/* Doubtful, and the bytes that were known before are still there; or,
	 * if it is absent too, can still be supplied: see memory_kept(). */
	PAGE_KEPT = 128,
	/* The host must not get at it, whatever else is known. */
	PAGE_CLOSED = PAGE_ABSENT | PAGE_DOUBTFUL,
};

struct mapping {
	struct region region;
	uint64_t arena;		/* offset of region.start in the arena */
	uint8_t *alias;		/* of a shared mapping: host address where the
				   kernel sees it, always open; else NULL */
	uint64_t dev, ino;	/* of what is mapped; 0: not known, or nothing */
	bool was_code;		/* was executable at some time */
	bool may_change;	/* its contents, since it was mapped */
	bool may_renew;		/* of common pages: cannot be written, or not all
				   are there */
	bool alone;		/* a shared mapping: no other process has it */

	/* Of pages without a state of their own. */
	uint8_t initial;	/* state */
	uint64_t doubt;		/* PAGE_DOUBTFUL: its number */

	int64_t shift;		/* an absent page is supplied as the guest page
				   of this distance */
	struct mapping *next, **link;	/* of those that are shared */
};

/*
 * With region.common, a mapping is an alias of common pages: `arena` is theirs,
 * and members other than `region` and `arena` count in their mapping only.
 * (The member `alias` is something else: where the kernel sees a mapping.)
 */

/* Where the pages of a mapping come from. */
struct source {
	int fd;			/* -1: none */
	uint8_t *host;		/* shared memory that the host has mapped here,
				   from its beginning; NULL: none */
	bool is_limited;	/* `host` cannot be written */
	uint64_t dev, ino;	/* what it is; 0: not known */
	bool alone;		/* no other process has it */
};

/* 2^i pages of all sizes that programs can ask for. */
#define GAP_CLASSES 36

/* An unused range of the arena. */
struct hole {
	uint64_t start, end;
};

/* A range of the arena, and the address of the guest that it has. */
struct extent {
	uint64_t start, end;
	guest_addr addr;
};

struct views;

/*
 * What is known of the gaps below `top`: none of 2^i pages or more ends above
 * end[i].
 */
struct gaps {
	guest_addr top;		/* 0: nothing is known */
	guest_addr end[GAP_CLASSES];
};

/* Pages that are looked at together, and so many of these; an arena has less
 * than 2^47 bytes. */
#define PAGE_BLOCK 4096
#define BLOCK_FIELD 4096
#define BLOCK_FIELDS \
	((UINT64_C(1) << (47 - GUEST_PAGE_SHIFT)) / PAGE_BLOCK / BLOCK_FIELD)

struct memory {
	struct memory_observer observer;
	bool tracks;		/* observer.first_write is set */
	bool doubts;		/* observer.resolve is set */
	bool asks;		/* pages are touched when the TLB misses them, or
				   by whoever reads the arena: no fault tells,
				   unless memory is guarded */
	bool is_open;		/* so nothing is protected any more */
	bool is_linear;		/* what programs map is in the arena where its
				   addresses say: see guard.c */
	bool is_guarded;	/* the host may do there what the guest may */

	uint8_t *arena;
	uint64_t arena_size;
	uint64_t used;		/* the arena beyond was never used */
	uint64_t heap_arena;	/* where "[heap]" lives: room to grow */
	guest_addr heap_start;
	struct hole *holes;
	size_t hole_count, hole_room;
	struct extent *extents;	/* sorted */
	size_t extent_count, extent_room;

	/* Sorted by address; see mapping_at(). */
	struct mapping **maps;
	size_t count, room;
	size_t gap;		/* how many are before the unused room */
	struct mapping **spare;	/* for those to come */
	size_t spare_count, spare_room;
	struct mapping *last;	/* where the last look-up ended, or NULL */
	struct mapping *first_shared;	/* but for common pages; unordered */
	uint64_t size;		/* bytes mapped, without common pages */
	struct gaps gaps;

	/* Common pages of which an alias has gone. */
	struct extent *left;
	size_t left_count, left_room;

	/* By arena page. */
	uint8_t *state;
	uint64_t *doubt;	/* PAGE_OWN and PAGE_DOUBTFUL: its number */
	/* By PAGE_BLOCK pages: whether there may be anything in them. */
	uint8_t *block;
	/* By BLOCK_FIELD blocks: whether one of them ever was one. */
	uint8_t field[BLOCK_FIELDS];

	uint64_t arms;		/* calls of memory_arm() */
	uint64_t opened;	/* pages, or stretches that stayed so, since the
				   others were closed */
	uint64_t touches;	/* memory_touches() */
	uint64_t stayed;	/* stretches that have been open since before
				   memory_restart() */
	struct family *family;	/* NULL: memory is not shared */
	uint64_t *shared;	/* known pages of shared mappings */
	size_t shared_count, shared_room;
	void (*lost)(void *context, guest_addr addr, bool kernel);
	void *lost_context;
	struct host_faults faults;
	bool by_kernel;		/* bytes are being copied for the kernel */
	bool was_lost;		/* meanwhile */
	unsigned turns;		/* looks since shared memory was last touched */

	/* What the host may do more than the guest, before that runs. */
	struct extent *lent;
	size_t lent_count, lent_room;
	struct number_map code_pages;	/* of the arena: writes are noticed */

	struct number_map code_doubts;	/* pages that were doubtful since they
					   were executed, to hashes */
	uint64_t newest_doubt;
	uint64_t generation;	/* counts changes of the address space */
	uint64_t of_data;	/* those of them that no code is in */

	/* Executable ranges whose contents the host changed. */
	struct {
		guest_addr addr;
		uint64_t size;
	} *stale;
	size_t stale_count, stale_room;

	struct views *views;	/* NULL: one thread, or no observer asks */

	struct region *view;	/* what memory_regions() returned */
	size_t view_room, view_count, view_own;	/* own: not common */
	uint64_t view_generation;

	char **names;		/* interned */
	size_t name_count, name_room;
};

/* ------- memory.c: how the address space changes ------- */

/* Unmaps without telling anybody.  Room for two more is there. */
void memory_cut_out(struct memory *memory, guest_addr addr, uint64_t size);

/* Whether a region may be mapped where it is. */
bool memory_is_mappable(const struct memory *memory,
			const struct region *region);

/* Tells the observer of a new region, and of its doubt, if that is not 0. */
void memory_tell_mapped(struct memory *memory, const struct region *region,
			uint64_t doubt);

/* A region of pages of its own. */
int memory_map_own(struct memory *memory, const struct region *region,
		   const struct source *source, struct failure *why);

/*
 * Notes that the host changed these bytes of a mapping: translations of them,
 * if there are any, must go before the guest runs.
 */
void memory_note_stale(struct memory *memory, const struct mapping *map,
		       guest_addr addr, uint64_t size);

/* The same, of bytes that the guest cannot write itself, perhaps. */
void memory_note_changed(struct memory *memory, struct mapping *map,
			 guest_addr addr, uint64_t size);

/* ------- heap.c ------- */

/* Whether a mapping is in the heap's part of the arena. */
bool heap_holds(const struct memory *memory, const struct mapping *map);

/* Where in it a region of the heap is; UINT64_MAX if it does not fit. */
uint64_t heap_take(struct memory *memory, const struct region *region);

/* ------- mappings.c: the sorted array ------- */

/*
 * The array has its unused room where it was changed last, so that changes
 * near each other move little; and pointers, so that others do not move much.
 */
static inline struct mapping *mapping_at(const struct memory *memory,
					 size_t index)
{
	if (index >= memory->gap)
		index += memory->room - memory->count;
	return memory->maps[index];
}

/* The mapping that holds `addr`, or NULL. */
struct mapping *memory_find(struct memory *memory, guest_addr addr);

/* Index of the first mapping that ends above `addr`. */
size_t memory_index(const struct memory *memory, guest_addr addr);

/* Whether all of it is mapped, and can be. */
bool memory_is_mapped(const struct memory *memory, guest_addr addr,
		      uint64_t size);

/* Whether a range is one of whole pages that may be mapped. */
bool memory_is_page_range(guest_addr addr, uint64_t size);

/* Makes room for `more` mappings; ERR_NO_MEMORY. */
int memory_make_room(struct memory *memory, size_t more);

/* Inserts a mapping where nothing is mapped; there must be room. */
void memory_insert(struct memory *memory, const struct mapping *map);

/* Takes `count` mappings out of the array, from index `first` on. */
void memory_erase(struct memory *memory, size_t first, size_t count);

/* Frees all. */
void memory_release_mappings(struct memory *memory);

/* Makes `addr` a border between mappings.  Room for one more is there. */
void memory_split(struct memory *memory, guest_addr addr);

/*
 * Makes the range a mapping of its own, or several, and returns the first.  It
 * is mapped.  NULL when out of memory.
 */
struct mapping *memory_separate(struct memory *memory, guest_addr addr,
				uint64_t size);

/* Joins what can be joined from `start` to `end`. */
void memory_join(struct memory *memory, guest_addr start, guest_addr end);

/* Whether two mappings are parts of one, for the guest. */
bool memory_continues(const struct mapping *a, const struct mapping *b);

static inline uint64_t mapping_arena(const struct mapping *map, guest_addr addr)
{
	return map->arena + (addr - map->region.start);
}

static inline uint64_t mapping_size(const struct mapping *map)
{
	return map->region.end - map->region.start;
}

#define ADDRESS_LIMIT (UINT64_C(1) << 48)	/* of programs of any kind */

/* Whether addresses are those of common pages. */
static inline bool is_common(guest_addr addr)
{
	return addr >= COMMON_START;
}

/* The guest page of an arena page. */
static inline uint64_t mapping_page(const struct mapping *map, uint64_t page)
{
	return (map->region.start >> GUEST_PAGE_SHIFT) + page -
	       (map->arena >> GUEST_PAGE_SHIFT);
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

/*
 * sharing.c: from here on others may change whole pages; the observer is told.
 */
int memory_begin_sharing(struct memory *memory, guest_addr start,
			 uint64_t size);

/* Whether others may touch a mapping's pages. */
static inline bool mapping_is_shared(const struct mapping *map)
{
	return map->region.kind == REGION_SHARED && !map->alone;
}

/* ------- arena.c: where guest memory is in the host ------- */

int arena_create(struct memory *memory, struct failure *why);

/* Has one in its place that is linear, if that can be. */
int arena_line_up(struct memory *memory, struct failure *why);
void arena_destroy(struct memory *memory);

/* Takes `size` bytes of the arena; (uint64_t)-1 when it is used up. */
uint64_t arena_take(struct memory *memory, uint64_t size);

/* Gives arena bytes back; `reuse` if they may be handed out again. */
void arena_give(struct memory *memory, uint64_t start, uint64_t size,
		bool reuse);

/* Sets what the host may do with pages: PAGE_READ | PAGE_WRITTEN bits. */
void arena_protect(struct memory *memory, uint64_t start, uint64_t size,
		   unsigned state);

/* Where the host has nothing any more, there is a reservation again. */
void arena_reserve_again(struct memory *memory, uint64_t start, uint64_t size);

/* The same, of what the host may do at any rate. */
void arena_allow(struct memory *memory, uint64_t start, uint64_t size,
		 int prot);

/* The addresses that linear memory has a place for: a power of 2. */
#define LINEAR_SIZE (UINT64_C(1) << MEMORY_LINEAR_BITS)

/* Whether a range of addresses has its place in linear memory. */
static inline bool is_in_line(const struct memory *memory, guest_addr start,
			      uint64_t size)
{
	return memory->is_linear && start < LINEAR_SIZE &&
	       size <= LINEAR_SIZE - start;
}

/* All of it is about to be filled in: the host may use huge pages. */
void arena_fill_soon(struct memory *memory, uint64_t start, uint64_t size);

/*
 * All of it is open and about to be filled in: the host gives it memory in one
 * call, where each page would take a fault.
 */
void arena_fill_now(struct memory *memory, uint64_t start, uint64_t size);

/* Makes room for `more` calls of arena_place(); ERR_NO_MEMORY. */
int arena_make_room(struct memory *memory, size_t more);

/* Says that arena bytes have this address of the guest. */
void arena_place(struct memory *memory, uint64_t start, uint64_t size,
		 guest_addr addr);

/* Says that they have none. */
void arena_displace(struct memory *memory, uint64_t start, uint64_t size);

/* Whether any bytes of a range have one. */
bool arena_has_any(const struct memory *memory, uint64_t start, uint64_t size);

/* The mapping that an arena page belongs to, or NULL. */
struct mapping *arena_mapping(struct memory *memory, uint64_t page);

/*
 * The mapping that keeps account of a mapping's page at `*addr`: itself, or
 * that of the common pages.  Then `*addr` becomes the address there.
 */
static inline struct mapping *mapping_home(struct memory *memory,
					   struct mapping *map,
					   guest_addr *addr)
{
	if (!map->region.common)
		return map;
	*addr = map->region.common + (*addr - map->region.start);
	return memory_find(memory, *addr);
}

/* ------- source.c: what the host maps ------- */

/*
 * Maps a region's pages of a source into the arena, and where the kernel sees
 * them; both can be written if the source can, else map->may_renew is set.
 */
int source_place(struct memory *memory, struct mapping *map,
		 const struct source *source, struct failure *why);

/*
 * Does so again, if the pages can be written; whether they were mapped.  Their
 * contents in the arena are those of the source then.
 */
bool source_renew(struct memory *memory, const struct mapping *map,
		  guest_addr addr, uint64_t size, const struct source *source);

/* ------- twins.c: pages that are mapped more than once ------- */

/*
 * Maps a region that is shared.  Where the process has the pages already,
 * these become common pages, of which this mapping and that one are aliases.
 */
int twins_map(struct memory *memory, const struct region *region,
	      const struct source *source, struct failure *why);

/* Maps an alias of common pages, which are mapped. */
int twins_alias(struct memory *memory, const struct region *region,
		struct failure *why);

/* Notes that an alias goes. */
void twins_leave(struct memory *memory, const struct mapping *map);

/* Unmaps common pages that no alias is left of. */
void twins_sweep(struct memory *memory);

/* Whether a range has common pages of which an alias is outside of it. */
bool twins_need(const struct memory *memory, guest_addr addr, uint64_t size);

/* Says that common pages may be code: `map` is an alias. */
void twins_are_code(struct memory *memory, const struct mapping *map);

/* ------- contents.c ------- */

/* Calls `tell` for a range that is mapped, by the addresses it is known by. */
void memory_each_home(struct memory *memory, guest_addr addr, uint64_t size,
		      void (*tell)(struct memory *memory, guest_addr addr,
				   uint64_t size));

/* ------- code_doubts.c: whether code has changed with its page ------- */

/* A page of a shared mapping, if it is known and may be code, becomes
 * doubtful. */
void code_doubt(struct memory *memory, const struct mapping *map,
		uint64_t page);

/* Whether the page may have changed and must be compared before it runs. */
static inline bool code_is_doubted(const struct memory *memory, uint64_t page)
{
	return memory->code_doubts.count &&
	       number_map_find(&memory->code_doubts, page);
}

/* Compares it: its translations are stale if it has changed. */
void code_settle(struct memory *memory, uint64_t page);

/* ------- gaps.c: where nothing is mapped ------- */

/* Notes that nothing is mapped at `addr` any more. */
void gaps_note(struct memory *memory, guest_addr addr);

/* ------- regions.c: what is mapped, for others to see ------- */

/* The one copy of a name; NULL when out of memory. */
const char *memory_intern(struct memory *memory, const char *name);

/* ------- guard.c: what the guest may do, the host may ------- */

/* Of guarded memory: these pages are open to the host now.  If that is more
 * than the guest may, not when it runs. */
void guard_lend(struct memory *memory, uint64_t start, uint64_t size,
		int prot);

/* These pages are open to the host, but not when the guest runs. */
void guard_note_lent(struct memory *memory, uint64_t start, uint64_t size);

/* All that was lent is closed, but for the first `count`. */
void guard_settle(struct memory *memory, size_t count);

/* A block is in use. */
void guard_open_block(struct memory *memory, uint64_t block);

/* The guest may do something else than before with mapped pages. */
void guard_renew(struct memory *memory, guest_addr addr, uint64_t size);

/* The host itself is to access bytes of a mapping that the guest may not. */
void guard_admit_host(struct memory *memory, const struct mapping *map,
		      uint64_t at, uint64_t size, bool write);

/* Moves linear memory, and what is known of its pages. */
int guard_move(struct memory *memory, guest_addr from, guest_addr to,
	       uint64_t size);

/* ------- pages.c: what is known of each page ------- */

static inline unsigned page_state(const struct memory *memory,
				  const struct mapping *map, uint64_t page)
{
	unsigned state = memory->state[page];

	return state & PAGE_OWN ? state : map->initial;
}

/* The number of a page's doubt, 0 if it is not doubtful. */
static inline uint64_t page_doubt(const struct memory *memory,
				  const struct mapping *map, uint64_t page)
{
	if (!(page_state(memory, map, page) & PAGE_DOUBTFUL))
		return 0;
	return memory->state[page] & PAGE_OWN ? memory->doubt[page] :
						map->doubt;
}

static inline void block_note(struct memory *memory, uint64_t block)
{
	memory->block[block] = 1;
	memory->field[block / BLOCK_FIELD] = 1;
}

/* Notes that an arena page is in use, and so its block of PAGE_BLOCK. */
static inline void page_note(struct memory *memory, uint64_t page)
{
	uint64_t block = page / PAGE_BLOCK;

	if (memory->block[block])
		return;
	block_note(memory, block);
	if (memory->is_guarded)
		guard_open_block(memory, block);
}

/* Gives a page a state of its own, and returns where it is. */
uint8_t *page_own(struct memory *memory, const struct mapping *map,
		  uint64_t page);

/*
 * The first page at or above `page` and below `end` that has one of these
 * bits in a state of its own; `end` if there is none.
 */
uint64_t pages_next(const struct memory *memory, uint64_t page, uint64_t end,
		    unsigned bits);

/* Pages lose their own states: their mapping's counts again. */
void pages_forget(struct memory *memory, uint64_t page, uint64_t count);

/* A segment ends: what was touched in it was touched before. */
void pages_end_segment(struct memory *memory);

/*
 * The mapping's pages from `addr` on become doubtful, and are closed.  With
 * `keep`, what was known of them is kept.
 */
int pages_doubt(struct memory *memory, struct mapping *map, guest_addr addr,
		uint64_t size, uint64_t doubt, bool keep);

/* They are neither doubtful nor absent any more. */
int pages_clear(struct memory *memory, struct mapping *map, guest_addr addr,
		uint64_t size);

/* ------- touch.c: what happens when a page is touched ------- */

/* Notes that a page may be read, or read and written, and says so. */
void page_mark(struct memory *memory, const struct mapping *map, uint64_t page,
	       bool write);

/* Opens a mapping's page for a read or a write, telling the observer. */
void arena_touch(struct memory *memory, const struct mapping *map,
		 uint64_t page, bool write);

/* ------- faults.c: faults of the host ------- */

/* Takes SIGSEGV for this memory: first touches of tracked pages; and SIGBUS:
 * pages that are not there. */
int arena_catch_faults(struct memory *memory, struct failure *why);

/* No longer, if it was listed. */
void arena_leave_faults(struct memory *memory);

#endif
