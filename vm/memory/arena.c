/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - the host reservation behind guest memory */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/memory/views.h"

/* Programs reserve terabytes; a host gives a process 47 bits as a rule. */
#define ARENA_BITS_MOST 46

/*
 * A limit on address space (ulimit -v) makes do with less, but others need
 * some of it, too: the engine's buffer for translations, half a gigabyte,
 * and the heap.  Where the arena would become smaller than small programs are,
 * these make do with less, too.
 */
static const struct {
	unsigned least_bits;
	uint64_t spare;
} shares[] = {
	{ 30, UINT64_C(1) << 30 },
	{ 27, UINT64_C(768) << 20 },
	{ 24, UINT64_C(256) << 20 },
};

static void *reserve(uint64_t size, int prot)
{
	void *at = mmap(NULL, size, prot,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* A core dump of cprec would be huge. */
	madvise(at, size, MADV_DONTDUMP);
	/* Huge pages would populate sparse arrays. */
	if (prot != PROT_NONE)
		madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

static void release(void *at, uint64_t size)
{
	if (at)
		munmap(at, size);
}

static void release_all(struct memory *memory)
{
	uint64_t pages = memory->arena_size >> GUEST_PAGE_SHIFT;

	release(memory->arena, memory->arena_size);
	release(memory->state, pages);
	release(memory->doubt, pages * sizeof(*memory->doubt));
	release(memory->block, pages / PAGE_BLOCK);
	memory->arena = memory->state = memory->block = NULL;
	memory->doubt = NULL;
}

void memory_let_go(struct memory *memory)
{
	release_all(memory);
}

/* What is known of the pages of an arena of this size. */
static bool reserve_states(struct memory *memory, uint64_t size)
{
	uint64_t pages = size >> GUEST_PAGE_SHIFT;
	int prot = PROT_READ | PROT_WRITE;

	memory->arena_size = size;
	memory->state = reserve(pages, prot);
	memory->doubt = reserve(pages * sizeof(*memory->doubt), prot);
	memory->block = reserve(pages / PAGE_BLOCK, prot);
	if (memory->state && memory->doubt && memory->block)
		return true;
	release_all(memory);
	return false;
}

static bool reserve_all(struct memory *memory, uint64_t size)
{
	memory->arena = reserve(size, PROT_NONE);
	memory->arena_size = size;
	if (!memory->arena) {
		release_all(memory);
		return false;
	}
	return reserve_states(memory, size);
}

/* Reserves this size, if so much of the address space is left then. */
static bool leaves(struct memory *memory, uint64_t size, uint64_t spare)
{
	void *others;

	if (!reserve_all(memory, size))
		return false;
	others = reserve(spare, PROT_NONE);
	release(others, spare);
	if (!others)
		release_all(memory);
	return others;
}

int arena_create(struct memory *memory, struct failure *why)
{
	const size_t count = sizeof(shares) / sizeof(shares[0]);

	for (size_t i = 0; i < count; i++)
		for (unsigned bits = ARENA_BITS_MOST;
		     bits >= shares[i].least_bits; bits--)
			if (leaves(memory, UINT64_C(1) << bits,
				   shares[i].spare))
				return 0;
	return failed(why, ERR_NO_MEMORY,
		      "cannot reserve address space for guest memory: %s",
		      strerror(errno));
}

/*
 * Linear memory begins at the lowest address that every host lets programs
 * have.  Above what the guest can address directly is nothing for a while, as
 * an access may miss it by as much, and then room for the rest.
 */
#define LINEAR_START UINT64_C(0x10000)
#define LINEAR_REST (UINT64_C(1) << 44)
#define LINEAR_GUARD (UINT64_C(1) << 36)

static bool reserve_line(struct memory *memory)
{
	uint64_t size = LINEAR_SIZE + LINEAR_REST;
	void *at = mmap((void *)LINEAR_START, size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	memory->arena = at;
	memory->arena_size = size;
	if (at != (void *)LINEAR_START || !reserve_states(memory, size)) {
		release_all(memory);
		return false;
	}
	madvise(at, size, MADV_DONTDUMP);
	memory->used = LINEAR_SIZE + LINEAR_GUARD;
	memory->is_linear = true;
	return true;
}

int arena_line_up(struct memory *memory, struct failure *why)
{
	arena_leave_faults(memory);
	release_all(memory);
	if (!reserve_line(memory)) {
		int rc = arena_create(memory, why);

		return rc || !memory->tracks ?
			       rc : arena_catch_faults(memory, why);
	}
	return arena_catch_faults(memory, why);
}

void arena_destroy(struct memory *memory)
{
	release_all(memory);
	free(memory->holes);
	free(memory->extents);
}

/* ------- handing it out ------- */

uint64_t arena_take(struct memory *memory, uint64_t size)
{
	uint64_t start;

	for (size_t i = 0; i < memory->hole_count; i++) {
		struct hole *hole = &memory->holes[i];

		if (hole->end - hole->start < size)
			continue;
		start = hole->start;
		hole->start += size;
		if (hole->start == hole->end)
			*hole = memory->holes[--memory->hole_count];
		return start;
	}
	if (size > memory->arena_size - memory->used)
		return UINT64_MAX;
	start = memory->used;
	memory->used += size;
	return start;
}

static void add_hole(struct memory *memory, uint64_t start, uint64_t end)
{
	for (size_t i = memory->hole_count; i-- > 0;) {
		struct hole *hole = &memory->holes[i];

		if (hole->end != start && hole->start != end)
			continue;
		if (hole->end == start)
			start = hole->start;
		else
			end = hole->end;
		*hole = memory->holes[--memory->hole_count];
	}
	if (end == memory->used) {
		memory->used = start;
		return;
	}
	if (array_room(memory->holes, memory->hole_count, memory->hole_room))
		return; /* the address space is lost, no more */
	memory->holes[memory->hole_count++] = (struct hole){ start, end };
}

void arena_give(struct memory *memory, uint64_t start, uint64_t size,
		bool reuse)
{
	if (memory->views)
		views_forget(memory->views, start >> GUEST_PAGE_SHIFT,
			     size >> GUEST_PAGE_SHIFT);
	/* Replaces mapped files too, and drops the contents. */
	if (memory->is_open)
		madvise(memory->arena + start, size, MADV_DONTNEED);
	else if (mmap(memory->arena + start, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return;
	madvise(memory->arena + start, size, MADV_DONTDUMP);
	pages_forget(memory, start >> GUEST_PAGE_SHIFT,
		     size >> GUEST_PAGE_SHIFT);
	if (reuse && !is_in_line(memory, start, size))
		add_hole(memory, start, start + size);
}

void arena_reserve_again(struct memory *memory, uint64_t start, uint64_t size)
{
	if (mmap(memory->arena + start, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		give_up("the host refuses to reserve addresses");
	madvise(memory->arena + start, size, MADV_DONTDUMP);
}

/*
 * The host has no more mappings to give.  Where no fault tells of anything,
 * protection only makes sure that nothing is forgotten: then one mapping does.
 */
static bool open_all(struct memory *memory)
{
	memory->is_open = memory->asks && !memory->is_guarded &&
			  !mprotect(memory->arena, memory->arena_size,
				    PROT_READ | PROT_WRITE);
	return memory->is_open;
}

void arena_protect(struct memory *memory, uint64_t start, uint64_t size,
		   unsigned state)
{
	int prot = PROT_NONE;

	/* The TLB must not let anybody in any more. */
	if (memory->asks && !(state & PAGE_READ))
		memory->generation++;
	if (state & PAGE_READ)
		prot |= PROT_READ;
	if (state & PAGE_WRITTEN)
		prot |= PROT_READ | PROT_WRITE;
	if (memory->is_guarded && prot)
		guard_lend(memory, start, size, prot);
	arena_allow(memory, start, size, prot);
}

void arena_allow(struct memory *memory, uint64_t start, uint64_t size,
		 int prot)
{
	if (memory->is_open || !mprotect(memory->arena + start, size, prot) ||
	    open_all(memory))
		return;
	/* A shared mapping of a file that is open for reading only. */
	if (!mprotect(memory->arena + start, size, prot & ~PROT_WRITE))
		return;
	/* OPENED_MOST keeps clear of the limit on mappings. */
	give_up("the host refuses to protect memory (vm.max_map_count?)");
}

void arena_fill_soon(struct memory *memory, uint64_t start, uint64_t size)
{
	/* A host without huge pages says so: that is no error. */
	if (size >= HUGE_PAGE)
		madvise(memory->arena + start, size, MADV_HUGEPAGE);
}

void arena_fill_now(struct memory *memory, uint64_t start, uint64_t size)
{
	/* Before Linux 5.14 there is no such thing: that is no error. */
	if (size > GUEST_PAGE)
		madvise(memory->arena + start, size, MADV_POPULATE_WRITE);
}

/* ------- from the arena to the guest ------- */

/* Index of the first extent that ends above `at`. */
static size_t extent_index(const struct memory *memory, uint64_t at)
{
	size_t low = 0, high = memory->extent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memory->extents[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int arena_make_room(struct memory *memory, size_t more)
{
	return array_reserve(memory->extents, memory->extent_count + more,
			     memory->extent_room);
}

static void insert_extent(struct memory *memory, size_t index,
			  struct extent extent)
{
	memmove(memory->extents + index + 1, memory->extents + index,
		(memory->extent_count - index) * sizeof(extent));
	memory->extents[index] = extent;
	memory->extent_count++;
}

static void erase_extents(struct memory *memory, size_t index, size_t count)
{
	memory->extent_count -= count;
	memmove(memory->extents + index, memory->extents + index + count,
		(memory->extent_count - index) * sizeof(*memory->extents));
}

static bool goes_on(const struct extent *a, const struct extent *b)
{
	return a->end == b->start && a->addr + (a->end - a->start) == b->addr;
}

void arena_place(struct memory *memory, uint64_t start, uint64_t size,
		 guest_addr addr)
{
	size_t index = extent_index(memory, start);
	struct extent extent = { start, start + size, addr };
	struct extent *at = memory->extents + index;

	if (index > 0 && goes_on(at - 1, &extent)) {
		extent = (struct extent){ at[-1].start, extent.end,
					  at[-1].addr };
		erase_extents(memory, --index, 1);
		at--;
	}
	if (index < memory->extent_count && goes_on(&extent, at))
		*at = (struct extent){ extent.start, at->end, extent.addr };
	else
		insert_extent(memory, index, extent);
}

void arena_displace(struct memory *memory, uint64_t start, uint64_t size)
{
	uint64_t end = start + size;
	size_t index = extent_index(memory, start), stop;

	if (index < memory->extent_count &&
	    memory->extents[index].start < start) {
		struct extent *at = &memory->extents[index];
		struct extent tail = { start, at->end,
				       at->addr + (start - at->start) };

		at->end = start;
		insert_extent(memory, ++index, tail);
	}
	for (stop = index; stop < memory->extent_count; stop++) {
		struct extent *at = &memory->extents[stop];

		if (at->start >= end)
			break;
		if (at->end > end) {
			at->addr += end - at->start;
			at->start = end;
			break;
		}
	}
	erase_extents(memory, index, stop - index);
}

bool arena_has_any(const struct memory *memory, uint64_t start, uint64_t size)
{
	size_t index = extent_index(memory, start);

	return index < memory->extent_count &&
	       memory->extents[index].start < start + size;
}

struct mapping *arena_mapping(struct memory *memory, uint64_t page)
{
	uint64_t at = page << GUEST_PAGE_SHIFT;
	size_t index = extent_index(memory, at);
	const struct extent *extent = memory->extents + index;

	if (index == memory->extent_count || at < extent->start)
		return NULL;
	return memory_find(memory, extent->addr + (at - extent->start));
}
