/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - the host reservation behind guest memory, and touches of its pages */
#include "vm/memory_internal.h"
#include "vm/views.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "formats/error.h"
#include "vm/family.h"

#define ARENA_BITS 40

/*
 * Each page that is opened on its own splits a host mapping, of which there
 * are at most 65,530 (vm.max_map_count).  After this many since memory_arm(),
 * whole clusters are opened, and told as touched.
 */
#define OPENED_MOST 14000
#define CLUSTER_PAGES 64

/* How far a touch is taken for one of its neighbours, each way. */
#define RUN_PAGES 16

static void *reserve(uint64_t size, int prot)
{
	void *at = mmap(NULL, size, prot,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* A limit on address space (ulimit -v) makes do with less. */
static void reserve_arena(struct memory *memory)
{
	for (unsigned bits = ARENA_BITS; bits >= 32 && !memory->arena; bits--) {
		memory->arena_size = UINT64_C(1) << bits;
		memory->arena = reserve(memory->arena_size, PROT_NONE);
	}
}

int arena_create(struct memory *memory, struct failure *why)
{
	uint64_t pages;

	reserve_arena(memory);
	if (!memory->arena)
		return failed(why, ERR_NO_MEMORY,
			      "cannot reserve address space for guest memory: %s",
			      strerror(errno));
	pages = memory->arena_size >> GUEST_PAGE_SHIFT;
	memory->state = reserve(pages, PROT_READ | PROT_WRITE);
	memory->doubt = reserve(pages * 4, PROT_READ | PROT_WRITE);
	memory->guest = reserve(pages * 8, PROT_READ | PROT_WRITE);
	memory->origin = reserve(pages * 8, PROT_READ | PROT_WRITE);
	if (!memory->state || !memory->doubt || !memory->guest ||
	    !memory->origin)
		return failed(why, ERR_NO_MEMORY,
			      "cannot reserve address space for page tables: %s",
			      strerror(errno));
	return 0;
}

static void release(void *at, uint64_t size)
{
	if (at)
		munmap(at, size);
}

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
	for (size_t i = 0; i < memory->hole_count; i++) {
		struct hole *hole = &memory->holes[i];

		if (hole->end == start) {
			hole->end = end;
			return;
		}
		if (hole->start == end) {
			hole->start = start;
			return;
		}
	}
	if (memory->hole_count == memory->hole_room) {
		size_t room = memory->hole_room ? memory->hole_room * 2 : 64;
		struct hole *more = realloc(memory->holes,
					    room * sizeof(*more));

		if (!more)
			return;		/* the address space is lost, no more */
		memory->holes = more;
		memory->hole_room = room;
	}
	memory->holes[memory->hole_count++] = (struct hole){ start, end };
}

void arena_give(struct memory *memory, uint64_t start, uint64_t size,
		bool reuse)
{
	uint64_t page = start >> GUEST_PAGE_SHIFT;
	uint64_t count = size >> GUEST_PAGE_SHIFT;

	if (memory->views)
		views_forget(memory->views, page, count);
	/* Replaces mapped files too, and drops the contents. */
	if (mmap(memory->arena + start, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return;
	memset(memory->state + page, 0, count);
	memset(memory->doubt + page, 0, count * 4);
	if (reuse)
		add_hole(memory, start, start + size);
}

void arena_protect(struct memory *memory, uint64_t start, uint64_t size,
		   unsigned state)
{
	int prot = PROT_NONE;

	if (state & PAGE_READ)
		prot |= PROT_READ;
	if (state & PAGE_WRITTEN)
		prot |= PROT_READ | PROT_WRITE;
	if (!mprotect(memory->arena + start, size, prot))
		return;
	/* A shared mapping of a file that is open for reading only. */
	if (!mprotect(memory->arena + start, size, prot & ~PROT_WRITE))
		return;
	abort();	/* OPENED_MOST keeps clear of the limit on mappings */
}

static void note_shared(struct memory *memory, uint64_t page)
{
	if (memory->shared_count == memory->shared_room) {
		size_t room = memory->shared_room ? memory->shared_room * 2 : 64;
		uint64_t *more = realloc(memory->shared, room * sizeof(*more));

		if (!more)
			abort();	/* changes would be missed */
		memory->shared = more;
		memory->shared_room = room;
	}
	memory->shared[memory->shared_count++] = page;
}

/* Lets the host at the contents of a page that nobody has seen yet. */
static void fill(struct memory *memory, uint64_t page)
{
	uint64_t at = page << GUEST_PAGE_SHIFT;
	uint8_t *bytes = memory->arena + at;
	uint32_t doubt = memory->doubt[page];
	bool shared = doubt && memory->family &&
		      (memory->state[page] & PAGE_SHARED);

	if (shared) {
		family_enter(memory->family);
		note_shared(memory, page);
	}
	arena_protect(memory, at, GUEST_PAGE, PAGE_READ | PAGE_WRITTEN);
	if (memory->state[page] & PAGE_ABSENT) {
		memory->state[page] &= (uint8_t)~PAGE_ABSENT;
		memory->observer.supply(memory->observer.context,
					memory->origin[page], bytes);
	}
	if (!doubt)
		return;
	memory->doubt[page] = 0;
	if (memory->observer.resolve)
		memory->observer.resolve(memory->observer.context,
					 memory->guest[page], doubt, bytes);
	if (memory->views)
		views_resolved(memory, page);
}

static bool is_closed(const struct memory *memory, uint64_t page)
{
	return memory->doubt[page] || (memory->state[page] & PAGE_ABSENT);
}

/* Notes that a page may be read, or read and written, and says so. */
static void mark(struct memory *memory, uint64_t page, bool write)
{
	const struct memory_observer *observer = &memory->observer;
	unsigned before = memory->state[page];

	memory->state[page] = (uint8_t)(before | PAGE_READ |
					(write ? PAGE_WRITTEN : 0));
	if (!memory->tracks)
		return;
	if (!(before & PAGE_READ) && !write && observer->first_read)
		observer->first_read(observer->context, memory->guest[page]);
	if (!(before & PAGE_WRITTEN) && write)
		observer->first_write(observer->context, memory->guest[page]);
}

static void touch_page(struct memory *memory, uint64_t page, bool write)
{
	if (is_closed(memory, page))
		fill(memory, page);
	mark(memory, page, write || !memory->tracks);
	arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
		      memory->state[page]);
}

/* The arena pages of the mapping that holds the page, cut to [first, end). */
static void cut_to_mapping(struct memory *memory, uint64_t page,
			   uint64_t *first, uint64_t *end)
{
	guest_addr addr = memory->guest[page] << GUEST_PAGE_SHIFT;
	const struct mapping *map = memory_find(memory, addr);
	uint64_t start = page, stop = page + 1;

	if (map) {
		start = map->arena >> GUEST_PAGE_SHIFT;
		stop = start + ((map->region.end - map->region.start) >>
				GUEST_PAGE_SHIFT);
	}
	if (*first < start)
		*first = start;
	if (*end > stop)
		*end = stop;
}

/*
 * Touches all of the cluster that belongs to the page's mapping.  A replay
 * leaves doubtful pages alone: the recording knows only those it names.
 */
static void touch_cluster(struct memory *memory, uint64_t page, bool write)
{
	uint64_t first = page & ~(uint64_t)(CLUSTER_PAGES - 1);
	uint64_t end = first + CLUSTER_PAGES;

	cut_to_mapping(memory, page, &first, &end);
	for (uint64_t other = first; other < end; other++)
		if (memory->tracks || !memory->doubt[other])
			touch_page(memory, other, write);
	touch_page(memory, page, write);
}

/*
 * Whether a page can be taken for touched along with a neighbour: it was in
 * the segment before, or follows pages that are written one after the other.
 */
static bool goes_along(const struct memory *memory, uint64_t page, bool write,
		       bool in_order)
{
	unsigned state = memory->state[page];

	if (is_closed(memory, page) ||
	    (state & (write ? PAGE_WRITTEN : PAGE_READ)))
		return false;
	if (write)
		return in_order || (state & PAGE_WAS_WRITTEN_BEFORE);
	return (state & PAGE_WAS_READ_BEFORE) &&
	       !(state & PAGE_WAS_WRITTEN_BEFORE);
}

/*
 * A fault costs as much as hashing 20 pages, so neighbours that will probably
 * be touched too are opened with the page.  What is told of them may be too
 * much, never too little.
 */
static void touch_run(struct memory *memory, uint64_t page, bool write)
{
	uint64_t first = page - (page < RUN_PAGES ? page : RUN_PAGES);
	uint64_t end = page + 1 + RUN_PAGES;
	uint64_t from = page, to = page + 1;
	bool in_order;

	write |= (memory->state[page] & PAGE_WAS_WRITTEN_BEFORE) != 0;
	cut_to_mapping(memory, page, &first, &end);
	in_order = write && page > first &&
		   (memory->state[page - 1] & PAGE_WRITTEN);
	while (from > first && goes_along(memory, from - 1, write, false))
		from--;
	while (to < end && goes_along(memory, to, write, in_order))
		to++;
	for (uint64_t other = from; other < to; other++)
		mark(memory, other, write);
	arena_protect(memory, from << GUEST_PAGE_SHIFT,
		      (to - from) << GUEST_PAGE_SHIFT, memory->state[page]);
}

static bool is_expected(const struct memory *memory, uint64_t page)
{
	return (memory->state[page] & PAGE_ABSENT) && !memory->doubt[page] &&
	       memory->observer.expects(memory->observer.context,
					memory->origin[page]);
}

/* Supplies an absent page, and those around it that will be asked for. */
static void supply_run(struct memory *memory, uint64_t page)
{
	uint64_t first = page - (page < RUN_PAGES ? page : RUN_PAGES);
	uint64_t end = page + 1 + RUN_PAGES;
	uint64_t from = page, to = page + 1;

	cut_to_mapping(memory, page, &first, &end);
	while (from > first && is_expected(memory, from - 1))
		from--;
	while (to < end && is_expected(memory, to))
		to++;
	arena_protect(memory, from << GUEST_PAGE_SHIFT,
		      (to - from) << GUEST_PAGE_SHIFT,
		      PAGE_READ | PAGE_WRITTEN);
	for (; from < to; from++) {
		memory->state[from] &= (uint8_t)~PAGE_ABSENT;
		mark(memory, from, true);
		memory->observer.supply(memory->observer.context,
					memory->origin[from],
					memory->arena +
						(from << GUEST_PAGE_SHIFT));
	}
}

void arena_touch(struct memory *memory, uint64_t page, bool write)
{
	unsigned need = write ? PAGE_WRITTEN : PAGE_READ;

	if (!is_closed(memory, page) && (memory->state[page] & need))
		return;
	if (++memory->opened > OPENED_MOST)
		touch_cluster(memory, page, write);
	else if (memory->tracks && !is_closed(memory, page))
		touch_run(memory, page, write);
	else if (memory->observer.expects && !memory->doubt[page] &&
		 (memory->state[page] & PAGE_ABSENT))
		supply_run(memory, page);
	else
		touch_page(memory, page, write);
}

/* ------- faults ------- */

static struct memory *caught;	/* the one memory whose faults we take */

static bool is_write(const struct memory *memory, uint64_t page,
		     const ucontext_t *context)
{
#ifdef __x86_64__
	(void)memory;
	(void)page;
	return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
	(void)context;
	return memory->state[page] & PAGE_READ;
#endif
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	struct memory *memory = caught;
	uint64_t at = (uint64_t)((uint8_t *)info->si_addr -
				 (memory ? memory->arena : NULL));
	int saved = errno;

	if (!memory || at >= memory->arena_size) {
		signal(number, SIG_DFL);	/* happens again, and kills us */
		return;
	}
	at >>= GUEST_PAGE_SHIFT;
	arena_touch(memory, at, is_write(memory, at, context));
	errno = saved;
}

int arena_catch_faults(struct memory *memory, struct failure *why)
{
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	assert(!caught);
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, NULL))
		return failed(why, ERR_SYSTEM, "cannot catch faults: %s",
			      strerror(errno));
	caught = memory;
	return 0;
}

void arena_destroy(struct memory *memory)
{
	uint64_t pages = memory->arena_size >> GUEST_PAGE_SHIFT;

	if (caught == memory) {
		caught = NULL;
		signal(SIGSEGV, SIG_DFL);
	}
	release(memory->arena, memory->arena_size);
	release(memory->state, pages);
	release(memory->doubt, pages * 4);
	release(memory->guest, pages * 8);
	release(memory->origin, pages * 8);
	free(memory->holes);
}
