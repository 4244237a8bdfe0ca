/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contents.c - what guest memory holds, read and written from the host */
#include "vm/memory_internal.h"
#include "vm/views.h"

#include <string.h>

#include "formats/error.h"

/*
 * Outputs of the kernel from this many whole pages on become doubtful instead
 * of being recorded at once: most large buffers are not read to the end.
 */
#define DOUBTFUL_PAGES 4

/* Opens the pages of a range that lies in one mapping. */
static void touch_range(struct memory *memory, const struct mapping *map,
			uint64_t at, uint64_t size, bool write)
{
	uint64_t last = (at + size - 1) >> GUEST_PAGE_SHIFT;

	for (uint64_t page = at >> GUEST_PAGE_SHIFT; page <= last; page++) {
		arena_touch(memory, map, page, write);
		if (memory->views)
			views_touch(memory, page, write);
	}
}

/*
 * The host address of `addr` in the arena and how many of `size` bytes follow
 * in the same mapping; NULL if it is not mapped with `need`.
 */
static uint8_t *locate(struct memory *memory, guest_addr addr, uint64_t size,
		       unsigned need, struct mapping **map, uint64_t *span)
{
	*map = memory_find(memory, addr);
	if (!*map || (need && !((*map)->region.prot & need)))
		return NULL;
	*span = (*map)->region.end - addr;
	if (*span > size)
		*span = size;
	return memory->arena + mapping_arena(*map, addr);
}

/*
 * Makes bytes that locate() has found accessible, and returns where.  The
 * kernel sees shared memory at an address of its own, without anybody's
 * learning of it: for the guest it is doubtful.
 */
static uint8_t *open_for(struct memory *memory, const struct mapping *map,
			 guest_addr addr, uint64_t span, bool kernel,
			 bool write)
{
	uint64_t at = mapping_arena(map, addr);

	if (kernel && map->alias)
		return map->alias + (addr - map->region.start);
	touch_range(memory, map, at, span, write);
	return memory->arena + at;
}

/* Whatever is mapped with any permission can be read on most processors. */
#define READABLE (MAY_READ | MAY_WRITE | MAY_EXEC)

/* From here to end_copy() the kernel is at work, if it is. */
static void begin_copy(struct memory *memory, bool kernel)
{
	memory->by_kernel = kernel;
	memory->was_lost = false;
}

/* Whether the kernel has not met with a page that is not there. */
static bool end_copy(struct memory *memory)
{
	bool ok = !memory->by_kernel || !memory->was_lost;

	memory->by_kernel = false;
	return ok;
}

static int get(struct memory *memory, guest_addr addr, void *bytes,
	       size_t size, unsigned need, bool kernel)
{
	uint8_t *to = bytes;

	while (size) {
		struct mapping *map;
		uint64_t span;

		if (!locate(memory, addr, size, need, &map, &span))
			return ERR_NOT_FOUND;
		begin_copy(memory, kernel);
		memcpy(to, open_for(memory, map, addr, span, kernel, false),
		       span);
		if (!end_copy(memory))
			return ERR_NOT_FOUND;
		to += span;
		addr += span;
		size -= span;
	}
	return 0;
}

int memory_read(struct memory *memory, guest_addr addr, void *bytes,
		size_t size)
{
	return get(memory, addr, bytes, size, READABLE, true);
}

int memory_load(struct memory *memory, guest_addr addr, void *bytes,
		size_t size)
{
	return get(memory, addr, bytes, size, READABLE, false);
}

int memory_look(struct memory *memory, guest_addr addr, void *bytes,
		size_t size)
{
	return get(memory, addr, bytes, size, 0, true);
}

int memory_read_string(struct memory *memory, guest_addr addr, char *text,
		       size_t room)
{
	while (room) {
		size_t chunk = GUEST_PAGE - addr % GUEST_PAGE;

		if (chunk > room)
			chunk = room;
		if (memory_read(memory, addr, text, chunk))
			return ERR_NOT_FOUND;
		if (memchr(text, 0, chunk))
			return 0;
		text += chunk;
		addr += chunk;
		room -= chunk;
	}
	return ERR_TRUNCATED;
}

static int put(struct memory *memory, guest_addr addr, const uint8_t *from,
	       size_t size, unsigned need, bool kernel)
{
	while (size) {
		struct mapping *map;
		uint64_t span;

		if (!locate(memory, addr, size, need, &map, &span))
			return ERR_NOT_FOUND;
		begin_copy(memory, kernel);
		memcpy(open_for(memory, map, addr, span, kernel, true), from,
		       span);
		if (!end_copy(memory))
			return ERR_NOT_FOUND;
		memory_note_stale(memory, map, addr, span);
		from += span;
		addr += span;
		size -= span;
	}
	return 0;
}

static bool may_write(struct memory *memory, guest_addr addr, uint64_t size,
		      unsigned need)
{
	while (size) {
		struct mapping *map;
		uint64_t span;

		if (!locate(memory, addr, size, need, &map, &span))
			return false;
		addr += span;
		size -= span;
	}
	return true;
}

int memory_store(struct memory *memory, guest_addr addr, const void *bytes,
		 size_t size)
{
	if (!may_write(memory, addr, size, MAY_WRITE))
		return ERR_NOT_FOUND;
	return put(memory, addr, bytes, size, MAY_WRITE, false);
}

/* Of doubtful pages there is nothing to tell: nobody knows them. */
static void tell_wrote(struct memory *memory, guest_addr addr, uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	guest_addr end = addr + size, start = addr, next;

	for (; observer->wrote && addr < end; addr = next) {
		next = (addr | (GUEST_PAGE - 1)) + 1;
		if (!memory_page_doubt(memory, addr >> GUEST_PAGE_SHIFT)) {
			if (next < end)
				continue;
			addr = next = end;
		}
		if (start < addr)
			observer->wrote(observer->context, start, addr - start);
		start = next;
	}
}

static int write_all(struct memory *memory, guest_addr addr, const void *bytes,
		     size_t size, unsigned need)
{
	int rc;

	if (!size)
		return 0;
	if (!may_write(memory, addr, size, need))
		return ERR_NOT_FOUND;
	rc = put(memory, addr, bytes, size, need, true);
	if (!rc)
		tell_wrote(memory, addr, size);
	return rc;
}

int memory_write(struct memory *memory, guest_addr addr, const void *bytes,
		 size_t size)
{
	return write_all(memory, addr, bytes, size, MAY_WRITE);
}

int memory_poke(struct memory *memory, guest_addr addr, const void *bytes,
		size_t size)
{
	return write_all(memory, addr, bytes, size, 0);
}

uint8_t *memory_at(struct memory *memory, guest_addr addr, uint64_t size,
		   enum memory_use use, uint64_t *span)
{
	unsigned need = use == MEMORY_OUT ? MAY_WRITE : READABLE;
	struct mapping *map;
	uint8_t *at;

	if (!locate(memory, addr, size, need, &map, span))
		return NULL;
	begin_copy(memory, true);
	at = open_for(memory, map, addr, *span, true, use == MEMORY_OUT);
	return end_copy(memory) ? at : NULL;
}

/* Makes whole pages doubtful under one new number, mapping by mapping. */
static void doubt_pages(struct memory *memory, guest_addr addr, uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	uint64_t doubt = ++memory->newest_doubt;

	memory_set_doubtful(memory, addr, size, doubt);
	if (observer->doubted)
		observer->doubted(observer->context, addr, size, doubt);
}

void memory_wrote(struct memory *memory, guest_addr addr, uint64_t size)
{
	const struct memory_observer *observer = &memory->observer;
	guest_addr first = (addr + GUEST_PAGE - 1) & ~(guest_addr)(GUEST_PAGE - 1);
	guest_addr end = (addr + size) & ~(guest_addr)(GUEST_PAGE - 1);

	for (guest_addr at = addr; at < addr + size;) {
		struct mapping *map = memory_find(memory, at);

		if (!map)
			break;
		memory_note_stale(memory, map, at,
			  map->region.end < addr + size ? map->region.end - at :
							  addr + size - at);
		at = map->region.end;
	}
	if (!observer->wrote || !size)
		return;
	if (!memory->doubts || !memory->tracks ||
	    end < first + (guest_addr)DOUBTFUL_PAGES * GUEST_PAGE) {
		tell_wrote(memory, addr, size);
		return;
	}
	if (first > addr)
		tell_wrote(memory, addr, first - addr);
	doubt_pages(memory, first, end - first);
	if (addr + size > end)
		tell_wrote(memory, end, addr + size - end);
}

const uint8_t *memory_peek(struct memory *memory, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find(memory, addr);
	unsigned state;
	uint64_t at;

	if (!map)
		return NULL;
	at = mapping_arena(map, addr);
	page = at >> GUEST_PAGE_SHIFT;
	state = page_state(memory, map, page);
	if (state & PAGE_CLOSED)
		return NULL;
	/* Open to the host, but nobody has touched it. */
	if (!(state & PAGE_READ))
		arena_protect(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
			      PAGE_READ);
	return memory->arena + at;
}
