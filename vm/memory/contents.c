/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contents.c - what guest memory holds, read and written from the host */
#include "vm/memory/memory_internal.h"
#include "vm/memory/views.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

/*
 * Outputs of the kernel from this many whole pages on become doubtful instead
 * of being recorded at once: most large buffers are not read to the end.  A
 * page that is recorded by its first touch costs a fault; one that is recorded
 * at once but never read costs its bytes.
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

/* The same for the host itself, which is no thread of the guest's. */
static void ask_range(struct memory *memory, const struct mapping *map,
		      uint64_t at, uint64_t size)
{
	uint64_t last = (at + size - 1) >> GUEST_PAGE_SHIFT;

	for (uint64_t page = at >> GUEST_PAGE_SHIFT; page <= last; page++)
		arena_touch(memory, map, page, false);
}

/* Where some bytes are: the mapping that keeps account of them. */
struct place {
	struct mapping *map;
	guest_addr addr;
	uint64_t span;		/* so many of them are there in a row */
};

/* False if the first byte is not mapped with `need`. */
static bool locate(struct memory *memory, guest_addr addr, uint64_t size,
		   unsigned need, struct place *out)
{
	struct mapping *map = memory_find(memory, addr);

	if (!map || (need && !(map->region.prot & need)))
		return false;
	out->addr = addr;
	out->span = map->region.end - addr;
	if (out->span > size)
		out->span = size;
	out->map = mapping_home(memory, map, &out->addr);
	if (out->span > out->map->region.end - out->addr)
		out->span = out->map->region.end - out->addr;
	return true;
}

/*
 * Makes bytes that locate() has found accessible, and returns where.  The
 * kernel has an address of its own for shared memory: what it does there is no
 * touch, and the page stays doubtful for the guest.
 */
static uint8_t *open_for(struct memory *memory, const struct place *place,
			 bool kernel, bool write)
{
	const struct mapping *map = place->map;
	uint64_t at = mapping_arena(map, place->addr);

	if (kernel && map->alias && !map->alone)
		return map->alias + (place->addr - map->region.start);
	touch_range(memory, map, at, place->span, write);
	return memory->arena + at;
}

/* Whether open_for() has found the kernel's own address. */
static bool is_alias(const struct place *place, const uint8_t *at)
{
	const struct mapping *map = place->map;

	return map->alias &&
	       at == map->alias + (place->addr - map->region.start);
}

/* Whatever is mapped with any permission can be read on most processors. */
#define READABLE (MAY_READ | MAY_WRITE | MAY_EXEC)

/* Until end_copy(), bytes are copied; `kernel`: on behalf of the kernel. */
static void begin_copy(struct memory *memory, bool kernel)
{
	memory->by_kernel = kernel;
	memory->was_lost = false;
}

/* Whether no page of a file was missing meanwhile. */
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
		struct place place;

		if (!locate(memory, addr, size, need, &place))
			return ERR_NOT_FOUND;
		begin_copy(memory, kernel);
		memcpy(to, open_for(memory, &place, kernel, false),
		       place.span);
		if (!end_copy(memory))
			return ERR_NOT_FOUND;
		to += place.span;
		addr += place.span;
		size -= place.span;
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
		struct place place;

		if (!locate(memory, addr, size, need, &place))
			return ERR_NOT_FOUND;
		begin_copy(memory, kernel);
		memcpy(open_for(memory, &place, kernel, true), from,
		       place.span);
		if (!end_copy(memory))
			return ERR_NOT_FOUND;
		memory_note_changed(memory, place.map, place.addr, place.span);
		from += place.span;
		addr += place.span;
		size -= place.span;
	}
	return 0;
}

static bool may_write(struct memory *memory, guest_addr addr, uint64_t size,
		      unsigned need)
{
	while (size) {
		struct place place;

		if (!locate(memory, addr, size, need, &place))
			return false;
		addr += place.span;
		size -= place.span;
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

void memory_each_home(struct memory *memory, guest_addr addr, uint64_t size,
		      void (*tell)(struct memory *memory, guest_addr addr,
				   uint64_t size))
{
	struct place place;

	for (; size && locate(memory, addr, size, 0, &place);
	     addr += place.span, size -= place.span) {
		guest_addr end = place.addr + place.span;

		/* Mappings in a row are told as one. */
		while (place.span < size && place.addr == addr) {
			struct place next;

			if (!locate(memory, end, size - place.span, 0, &next) ||
			    next.addr != end)
				break;
			place.span += next.span;
			end += next.span;
		}
		tell(memory, place.addr, place.span);
	}
}

static void tell_bytes(struct memory *memory, guest_addr addr, uint64_t size)
{
	memory->observer.wrote(memory->observer.context, addr, size);
}

static void tell_doubt(struct memory *memory, guest_addr addr, uint64_t size)
{
	memory->observer.doubted(memory->observer.context, addr, size,
				 memory->newest_doubt);
}

/* Makes whole pages doubtful under one new number, mapping by mapping. */
static void doubt_pages(struct memory *memory, guest_addr addr, uint64_t size)
{
	memory_set_doubtful(memory, addr, size, ++memory->newest_doubt);
	if (memory->observer.doubted)
		memory_each_home(memory, addr, size, tell_doubt);
}

/* A doubt there means that others have it. */
static bool is_alone_at(struct memory *memory, guest_addr addr)
{
	const struct mapping *map = memory_find(memory, addr);

	return map && map->alone;
}

/*
 * The kernel has written to a doubtful page.  If it is private, its first touch
 * will tell.  A shared one may change again before that, so its contents are
 * recorded now, under a doubt of their own: before the call it held something
 * else.
 */
static void know_written(struct memory *memory, guest_addr addr)
{
	if (!memory_others_share(memory, addr))
		return;
	doubt_pages(memory, addr & ~(guest_addr)(GUEST_PAGE - 1), GUEST_PAGE);
	begin_copy(memory, true);
	memory_know(memory, addr, 1);
	end_copy(memory);
	memory_doubt_shared(memory);	/* the call may wait yet */
}

static void tell_known(struct memory *memory, guest_addr start, guest_addr end)
{
	if (start < end)
		memory_each_home(memory, start, end - start, tell_bytes);
}

static void tell_wrote(struct memory *memory, guest_addr addr, uint64_t size)
{
	guest_addr end = addr + size, start = addr, next;

	if (!memory->observer.wrote)
		return;
	for (; addr < end; addr = next) {
		next = (addr | (GUEST_PAGE - 1)) + 1;
		if (!memory_page_doubt(memory, addr >> GUEST_PAGE_SHIFT))
			continue;
		tell_known(memory, start, addr);
		know_written(memory, addr);
		start = next;
	}
	tell_known(memory, start, end);
}

static int write_all(struct memory *memory, guest_addr addr, const void *bytes,
		     size_t size, unsigned need)
{
	int rc;

	if (!size)
		return 0;
	if (!may_write(memory, addr, size, need))
		return ERR_NOT_FOUND;
	memory_enter(memory, addr, size);
	rc = put(memory, addr, bytes, size, need, true);
	if (!rc)
		tell_wrote(memory, addr, size);
	memory_leave(memory);
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
	struct place place;
	uint8_t *at;

	if (!locate(memory, addr, size, need, &place))
		return NULL;
	*span = place.span;
	begin_copy(memory, true);
	at = open_for(memory, &place, true, use == MEMORY_OUT);
	if (memory->is_guarded && !is_alias(&place, at))
		guard_admit_host(memory, place.map,
				 mapping_arena(place.map, place.addr),
				 place.span, use == MEMORY_OUT);
	return end_copy(memory) ? at : NULL;
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
		memory_note_changed(memory, map, at,
			  map->region.end < addr + size ? map->region.end - at :
							  addr + size - at);
		at = map->region.end;
	}
	if (!observer->wrote || !size)
		return;
	if (!memory->doubts || !memory->tracks ||
	    end < first + (guest_addr)DOUBTFUL_PAGES * GUEST_PAGE ||
	    is_alone_at(memory, first)) {
		tell_wrote(memory, addr, size);
		return;
	}
	if (first > addr)
		tell_wrote(memory, addr, first - addr);
	doubt_pages(memory, first, end - first);
	if (addr + size > end)
		tell_wrote(memory, end, addr + size - end);
}

const uint8_t *memory_host(struct memory *memory, guest_addr addr,
			   uint64_t size, uint64_t *span)
{
	struct place place;

	if (!locate(memory, addr, size, 0, &place))
		return NULL;
	*span = place.span;
	return memory->arena + mapping_arena(place.map, place.addr);
}

bool memory_is_known(struct memory *memory, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find(memory, addr);

	if (!map)
		return false;
	map = mapping_home(memory, map, &addr);
	page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;
	return !(page_state(memory, map, page) & PAGE_CLOSED);
}

const uint8_t *memory_peek(struct memory *memory, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct mapping *map = memory_find(memory, addr);
	unsigned state;
	uint64_t at;

	if (!map)
		return NULL;
	map = mapping_home(memory, map, &addr);
	at = mapping_arena(map, addr);
	page = at >> GUEST_PAGE_SHIFT;
	state = page_state(memory, map, page);
	if (state & PAGE_CLOSED)
		return NULL;
	/* Not touched, and still to be told when the guest does so. */
	if (!(state & PAGE_READ)) {
		arena_allow(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE,
			    PROT_READ);
		guard_note_lent(memory, page << GUEST_PAGE_SHIFT, GUEST_PAGE);
	}
	return memory->arena + at;
}

size_t memory_code_of_page(struct memory *memory, guest_addr addr, void *bytes,
			   size_t size)
{
	size_t left = GUEST_PAGE - addr % GUEST_PAGE;

	return memory_code(memory, addr, bytes, left < size ? left : size);
}

size_t memory_code(struct memory *memory, guest_addr addr, void *bytes,
		   size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct mapping *map = memory_find(memory, addr + done);
		size_t span;

		if (!map)
			break;
		span = map->region.end - (addr + done);
		if (span > size - done)
			span = size - done;
		if (memory->asks)
			ask_range(memory, map, mapping_arena(map, addr + done),
				  span);
		memcpy((uint8_t *)bytes + done,
		       memory->arena + mapping_arena(map, addr + done), span);
		done += span;
	}
	return done;
}
