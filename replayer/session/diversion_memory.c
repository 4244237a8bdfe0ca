/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diversion_memory.c - what a diversion does to its memory */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "replayer/session/diversion_calls_internal.h"
#include "vm/memory/memory.h"

#define MAPPED_MOST (UINT64_C(1) << 32)

static uint64_t page_up(uint64_t addr)
{
	return (addr + GUEST_PAGE - 1) & -(uint64_t)GUEST_PAGE;
}

/* Below the lowest region that has such a hole below it; 0: there is none. */
static uint64_t find_hole(const struct diverted_call *call, uint64_t size)
{
	size_t count;
	const struct region *list = memory_regions(call->memory, &count);

	for (size_t i = count; i-- > 1;)
		if (list[i].start - list[i - 1].end >= 2 * size)
			return list[i].start - size;
	return 0;
}

static int map(struct diverted_call *call, uint64_t addr, uint64_t size,
	       unsigned prot, const char *name)
{
	/* What a name is kept in is copied. */
	const struct region region = {
		.start = addr,
		.end = addr + size,
		.prot = prot,
		.kind = REGION_ANON,
		.name = (char *)(uintptr_t)name,
	};

	return memory_map(call->memory, &region, -1, NULL);
}

int divert_mmap(struct diverted_call *call, struct failure *why)
{
	uint64_t addr = call->args[0], size = page_up(call->args[1]);
	const uint64_t flags = call->args[3];
	const bool is_fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);

	if (!(flags & MAP_ANONYMOUS))
		return divert_refuse(call, why, "the recording has no files");
	call->result = -ENOMEM;
	if (!size || size > MAPPED_MOST)
		return 0;
	if (!is_fixed)
		addr = find_hole(call, size);
	else if (addr % GUEST_PAGE || addr + size < addr)
		addr = 0;
	if (addr && !map(call, addr, size,
			 call->args[2] & (MAY_READ | MAY_WRITE | MAY_EXEC), ""))
		call->result = (int64_t)addr;
	return 0;
}

int divert_munmap(struct diverted_call *call, struct failure *why)
{
	(void)why;
	call->result = memory_unmap(call->memory, call->args[0],
				    page_up(call->args[1]))
			       ? -EINVAL
			       : 0;
	return 0;
}

int divert_mprotect(struct diverted_call *call, struct failure *why)
{
	(void)why;
	call->result = memory_protect(call->memory, call->args[0],
				      page_up(call->args[1]),
				      call->args[2] &
					      (MAY_READ | MAY_WRITE | MAY_EXEC))
			       ? -ENOMEM
			       : 0;
	return 0;
}

static bool is_anonymous(const struct diverted_call *call, uint64_t addr,
			 uint64_t size)
{
	const struct region *region = memory_region_at(call->memory, addr);

	return region && region->kind == REGION_ANON && addr <= region->end &&
	       size <= region->end - addr;
}

int divert_mremap(struct diverted_call *call, struct failure *why)
{
	const uint64_t addr = call->args[0];
	const uint64_t size = page_up(call->args[1]);
	const uint64_t wanted = page_up(call->args[2]);
	uint64_t to = 0;

	if (!size || !is_anonymous(call, addr, size) ||
	    call->args[3] & ~(uint64_t)MREMAP_MAYMOVE)
		return divert_refuse(call, why, "it is not memory of its own");
	call->result = -ENOMEM;
	if (wanted && wanted <= size) {
		memory_unmap(call->memory, addr + wanted, size - wanted);
		call->result = (int64_t)addr;
		return 0;
	}
	if (wanted && wanted <= MAPPED_MOST && call->args[3] & MREMAP_MAYMOVE)
		to = find_hole(call, wanted);
	if (to &&
	    !map(call, to, wanted, memory_region_at(call->memory, addr)->prot,
		 "") &&
	    !memory_move(call->memory, addr, to, size))
		call->result = (int64_t)to;
	return 0;
}

int divert_madvise(struct diverted_call *call, struct failure *why)
{
	const uint64_t addr = call->args[0], size = page_up(call->args[1]);

	if (call->args[2] != MADV_DONTNEED)
		return 0;
	if (!is_anonymous(call, addr, size))
		return divert_refuse(call, why, "it is not memory of its own");
	call->result = memory_clear(call->memory, addr, size) ? -ENOMEM : 0;
	return 0;
}

/* The end of the heap as far as pages tell; 0: there is none. */
static uint64_t recorded_heap_end(const struct diverted_call *call)
{
	size_t count;
	const struct region *list = memory_regions(call->memory, &count);
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (list[i].name && !strcmp(list[i].name, "[heap]"))
			end = list[i].end;
	return end;
}

int divert_brk(struct diverted_call *call, struct failure *why)
{
	struct diversion_kernel *kernel = call->kernel;
	const uint64_t wanted = call->args[0];
	const struct region *next;
	uint64_t from, to;

	(void)why;
	if (!kernel->heap_end)
		kernel->heap_end = recorded_heap_end(call);
	from = page_up(kernel->heap_end);
	to = page_up(wanted);
	next = memory_region_from(call->memory, from);
	if (kernel->heap_end && to > from && to - from <= MAPPED_MOST &&
	    (!next || next->start >= to) &&
	    !map(call, from, to - from, MAY_READ | MAY_WRITE, "[heap]"))
		kernel->heap_end = wanted;
	else if (kernel->heap_end && to == from)
		kernel->heap_end = wanted;
	call->result = (int64_t)kernel->heap_end;
	return 0;
}
