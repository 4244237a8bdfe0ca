/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfork_pages.c - what a child of vfork() has written goes to its parent
 *
 * The host copies memory for each child, so the child of a vfork(), too, has
 * memory of its own.  Its parent waits at a pipe until the child has executed
 * a program, or has ended: then it gets the pages that the child has written,
 * which is where posix_spawn() looks for an error.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks_internal.h"

/* What the child sends of a page that it has written. */
struct page_back {
	uint64_t page;
	uint8_t bytes[GUEST_PAGE];
};

enum {
	PAGES_AT_ONCE = 512,
};

static bool send_page(int fd, uint64_t page, const uint8_t *bytes)
{
	struct page_back back = { .page = page };
	const uint8_t *from = (const uint8_t *)&back;

	memcpy(back.bytes, bytes, GUEST_PAGE);
	for (size_t done = 0; done < sizeof(back);) {
		ssize_t size = write(fd, from + done, sizeof(back) - done);

		if (size < 0 && errno != EINTR)
			return false;
		done += size > 0 ? (size_t)size : 0;
	}
	return true;
}

/* Host address of a region's first page; NULL if no page was ever seen. */
static uintptr_t host_start(struct linux_process *process,
			    const struct region *region)
{
	uint64_t first = region->start >> GUEST_PAGE_SHIFT;
	uint64_t end = region->end >> GUEST_PAGE_SHIFT;

	for (uint64_t page = first;
	     (page = memory_next_touched(process->memory, page, end)) < end;
	     page++) {
		const uint8_t *bytes = memory_peek(process->memory, page);

		if (bytes)
			return (uintptr_t)bytes -
			       ((page - first) << GUEST_PAGE_SHIFT);
	}
	return 0;
}

/*
 * Sends the pages that nobody else has: since the fork, they were written.
 * Some may have been so by cprec alone; the parent compares.
 */
static bool send_region(struct linux_process *process, int fd, int pagemap,
			const struct region *region)
{
	uint64_t host = host_start(process, region) >> GUEST_PAGE_SHIFT;
	uint64_t first = region->start >> GUEST_PAGE_SHIFT;
	uint64_t end = region->end >> GUEST_PAGE_SHIFT;
	uint64_t entries[PAGES_AT_ONCE], from = end;

	for (uint64_t page = first;
	     host && (page = memory_next_touched(process->memory, page, end)) <
			     end;
	     page++) {
		const uint8_t *bytes;

		if (page - from >= PAGES_AT_ONCE) {
			from = page;
			if (pread(pagemap, entries, sizeof(entries),
				  (off_t)((host + page - first) * 8)) <= 0)
				return false;
		}
		if (!(entries[page - from] & PAGEMAP_EXCLUSIVE))
			continue;
		bytes = memory_peek(process->memory, page);
		if (bytes && !send_page(fd, page, bytes))
			return false;
	}
	return true;
}

static void send_writes(struct linux_process *process, int fd)
{
	int pagemap = pagemap_open();
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; pagemap >= 0 && i < count; i++)
		if (regions[i].prot & MAY_WRITE &&
		    regions[i].kind != REGION_SHARED &&
		    !send_region(process, fd, pagemap, &regions[i]))
			break;
	if (pagemap >= 0)
		close(pagemap);
}

void fork_release_parent(struct linux_process *process, bool ended)
{
	int fd = process->tasks->waited_by;

	if (fd < 0)
		return;
	process->tasks->waited_by = -1;
	if (ended)
		send_writes(process, fd);
	linux_close_hidden(fd);
}

/* What differs from the parent's page is as if the kernel had written it. */
static void take_page(struct linux_process *process,
		      const struct page_back *back)
{
	guest_addr addr = back->page << GUEST_PAGE_SHIFT;
	uint8_t now[GUEST_PAGE];
	size_t first = 0, end = GUEST_PAGE;

	if (memory_look(process->memory, addr, now, sizeof(now)))
		return;
	while (first < end && now[first] == back->bytes[first])
		first++;
	while (first < end && now[end - 1] == back->bytes[end - 1])
		end--;
	if (first < end)
		memory_poke(process->memory, addr + first,
			    back->bytes + first, end - first);
}

/*
 * Reads once.  Signals that come while a parent waits are delivered later,
 * but one that ends it does: then 0 is returned, as at the pipe's end.
 */
static ssize_t wait_and_read(struct linux_process *process, int fd, void *to,
			     size_t size)
{
	int64_t got;

	do {
		if (signals_is_deadly(process))
			return 0;
		if (!process->thread->pending)
			got = host_call(process, SYS_read, (uint64_t)fd,
					host_pointer(to), size);
		else if ((got = read(fd, to, size)) < 0)
			got = -errno;
	} while (got == -RESTART_IF_ASKED || got == -RESTART_ALWAYS ||
		 got == -EINTR);
	return got;
}

void vfork_wait(struct linux_process *process, int fd)
{
	struct page_back back;
	uint8_t *to = (uint8_t *)&back;
	size_t done = 0;

	for (;;) {
		ssize_t got = wait_and_read(process, fd, to + done,
					    sizeof(back) - done);

		if (got <= 0)
			return;
		done += (size_t)got;
		if (done == sizeof(back)) {
			take_page(process, &back);
			done = 0;
		}
	}
}
