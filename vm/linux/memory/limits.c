/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits.c - RLIMIT_AS and RLIMIT_DATA
 *
 * As Linux's may_expand_vm() and check_data_rlimit() have them.
 */
#include <string.h>
#include <unistd.h>

#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/*
 * What Linux gives a stack at first; ours is mapped as a whole, and counts as
 * far as it is used.
 */
#define STACK_LEAST (132u << 10)

/* Bytes that are mapped, and how many of them are private and writable. */
struct extent {
	uint64_t all, data;
};

static bool is_stack(const struct region *region)
{
	return !strcmp(region->name, "[stack]");
}

static bool is_data(const struct region *region, unsigned prot)
{
	return prot & MAY_WRITE && region->kind != REGION_SHARED &&
	       !is_stack(region);
}

/* The lowest page of the stack that is there, as the host knows. */
static guest_addr used_stack(struct linux_process *process,
			     const struct region *region)
{
	uint64_t page = region->start >> GUEST_PAGE_SHIFT;
	uint64_t end = region->end >> GUEST_PAGE_SHIFT;
	uint64_t entries[512];
	int pagemap = pagemap_open();
	size_t i = 0, count = 0;

	for (; page < end; page += count) {
		count = end - page < 512 ? end - page : 512;
		pagemap_entries(process, pagemap, page, entries, count);
		for (i = 0; i < count; i++)
			if (entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED))
				break;
		if (i < count)
			break;
	}
	if (pagemap >= 0)
		close(pagemap);
	return page < end ? (page + i) << GUEST_PAGE_SHIFT : region->end;
}

guest_addr limits_start(struct linux_process *process,
			const struct region *region)
{
	guest_addr used, least = process->space->layout.stack_top - STACK_LEAST;

	if (!is_stack(region) ||
	    region->start != process->space->layout.stack_bottom)
		return region->start;
	used = used_stack(process, region);
	if (least < region->start || least > region->end)
		return used;
	return used < least ? used : least;
}

/* Where what counts of a region starts. */
static guest_addr counted_start(struct linux_process *process,
				const struct region *region)
{
	/* The stack is not data: the limit of all memory alone counts it. */
	return limit_of(process, LIMIT_MEMORY) == UNLIMITED ?
		       region->start :
		       limits_start(process, region);
}

uint64_t limits_mapped(struct linux_process *process)
{
	uint64_t size = 0;
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++)
		size += regions[i].end - limits_start(process, &regions[i]);
	return size;
}

/* What counts between two addresses. */
static struct extent measure(struct linux_process *process, guest_addr from,
			     guest_addr to)
{
	struct extent extent = { 0 };
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++) {
		const struct region *region = &regions[i];
		guest_addr start, end = region->end < to ? region->end : to;

		if (region->start >= to || region->end <= from)
			continue;
		start = counted_start(process, region);
		if (start < from)
			start = from;
		if (start >= end)
			continue;
		extent.all += end - start;
		if (is_data(region, eof_tail_prot(process, region)))
			extent.data += end - start;
	}
	return extent;
}

static bool is_limited(const struct linux_process *process)
{
	return limit_of(process, LIMIT_MEMORY) != UNLIMITED ||
	       limit_of(process, LIMIT_DATA) != UNLIMITED;
}

/* Linux counts pages. */
static bool fits(uint64_t bytes, uint64_t limit)
{
	return bytes >> GUEST_PAGE_SHIFT <= limit >> GUEST_PAGE_SHIFT;
}

static bool fits_data(const struct linux_process *process, uint64_t bytes)
{
	const struct limit *limit = &process->limits->kept[LIMIT_DATA];

	/* With none at all the hard one counts, for Valgrind. */
	return fits(bytes, limit->soft ? limit->soft : limit->hard);
}

static bool allow(struct linux_process *process, const struct extent *more,
		  const struct extent *less)
{
	struct extent now = measure(process, 0, process->abi->user_end);

	if (!fits(now.all - less->all + more->all,
		  limit_of(process, LIMIT_MEMORY)))
		return false;
	return !more->data ||
	       fits_data(process, now.data - less->data + more->data);
}

bool limits_allow(struct linux_process *process, uint64_t all, uint64_t data)
{
	const struct extent more = { all, data }, none = { 0 };

	return !is_limited(process) || allow(process, &more, &none);
}

static bool allow_like(struct linux_process *process,
		       const struct region *region, const struct extent *less)
{
	uint64_t size = region->end - region->start;
	bool data = is_data(region, eof_tail_prot(process, region));
	const struct extent more = { size, data ? size : 0 };

	return allow(process, &more, less);
}

bool limits_allow_region(struct linux_process *process,
			 const struct region *region)
{
	struct extent less;

	if (!is_limited(process))
		return true;
	less = measure(process, region->start, region->end);
	/* Linux takes all that goes for data, whatever it is. */
	less.data = less.all;
	return allow_like(process, region, &less);
}

bool limits_allow_after(struct linux_process *process,
			const struct region *region, guest_addr freed,
			uint64_t freed_size)
{
	struct extent less;

	if (!is_limited(process))
		return true;
	less = measure(process, freed, freed + freed_size);
	return allow_like(process, region, &less);
}

/* Only what turns into data is looked at, a mapping at a time. */
guest_addr limits_protect(struct linux_process *process, guest_addr addr,
			  guest_addr end, unsigned prot)
{
	struct extent now;
	size_t count;
	const struct region *regions;

	if (limit_of(process, LIMIT_DATA) == UNLIMITED || !(prot & MAY_WRITE))
		return end;
	now = measure(process, 0, process->abi->user_end);
	regions = memory_regions(process->memory, &count);
	for (size_t i = 0; i < count; i++) {
		const struct region *region = &regions[i];
		guest_addr from = region->start > addr ? region->start : addr;
		guest_addr to = region->end < end ? region->end : end;

		if (from >= to || !is_data(region, prot) ||
		    is_data(region, eof_tail_prot(process, region)))
			continue;
		now.data += to - from;
		if (!fits_data(process, now.data) &&
		    fits(now.all + to - from, limit_of(process, LIMIT_MEMORY)))
			return from;
	}
	return end;
}

bool limits_allow_brk(const struct linux_process *process, guest_addr end)
{
	const struct layout *layout = &process->space->layout;
	uint64_t limit = limit_of(process, LIMIT_DATA);

	return limit == UNLIMITED ||
	       end - layout->brk_start +
			       (layout->data_end - layout->data_start) <=
		       limit;
}
