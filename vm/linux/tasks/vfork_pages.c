/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfork_pages.c - what a child of vfork() has written goes to its parent
 *
 * The host copies memory for each child, so the child of a vfork(), too, has
 * memory of its own.  Its parent waits at a socket until the child executes a
 * program, or ends: then it gets the pages that the child has written, which is
 * where posix_spawn() looks for an error.  What the child maps it learns at
 * once (vfork_calls.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks_internal.h"

enum {
	PAGES_AT_ONCE = 512,
};

/* Where a child's pages are looked for. */
struct look {
	struct linux_process *process;
	int parent;
	int pagemap, memory;	/* of the host */
};

/* As the host has it: whatever is known of a page stays so. */
static bool send_page(const struct look *look, uint64_t page)
{
	struct vfork_message message = { .page = page };
	uint64_t span;
	const uint8_t *host = memory_host(look->process->memory,
					  page << GUEST_PAGE_SHIFT, GUEST_PAGE,
					  &span);

	if (!host || pread(look->memory, message.bytes, GUEST_PAGE,
			   (off_t)(uintptr_t)host) != GUEST_PAGE)
		return true;
	return vfork_send(look->parent, &message, sizeof(message), -1);
}

/*
 * Sends the pages that have these bits of PAGEMAP_....  Some may have been
 * written by cprec alone; the parent compares.
 */
static bool send_region(const struct look *look, const struct region *region,
			uint64_t bits)
{
	uint64_t page = region->start >> GUEST_PAGE_SHIFT;
	uint64_t end = region->end >> GUEST_PAGE_SHIFT;
	uint64_t entries[PAGES_AT_ONCE], from = end;

	for (;; page++) {
		page = memory_next_touched(look->process->memory, page, end);
		if (page >= end)
			return true;
		if (page < from || page - from >= PAGES_AT_ONCE) {
			uint64_t left = end - page;

			from = page;
			pagemap_entries(look->process, look->pagemap, page,
					entries,
					left < PAGES_AT_ONCE ? left :
							       PAGES_AT_ONCE);
		}
		if ((entries[page - from] & bits) && !send_page(look, page))
			return false;
	}
}

/*
 * Which pages of a region the child may have written: those that nobody else
 * has; of memory that it began to share itself, all.
 */
static uint64_t wanted_bits(struct linux_process *process,
			    const struct region *region)
{
	if (region->kind != REGION_SHARED)
		return PAGEMAP_EXCLUSIVE | PAGEMAP_SWAPPED;
	return memory_others_share(process->memory, region->start) ?
		       0 : PAGEMAP_PRESENT | PAGEMAP_SWAPPED;
}

void vfork_send_writes(struct linux_process *process)
{
	struct look look = { process, process->tasks->waited_by, -1, -1 };
	size_t count;
	const struct region *regions;

	if (look.parent < 0 || !process->tasks->lends)
		return;
	look.pagemap = pagemap_open();
	look.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	regions = memory_regions(process->memory, &count);
	for (size_t i = 0; look.pagemap >= 0 && i < count; i++) {
		uint64_t bits = wanted_bits(process, &regions[i]);

		if (bits && !send_region(&look, &regions[i], bits))
			break;
	}
	if (look.pagemap >= 0)
		close(look.pagemap);
	if (look.memory >= 0)
		close(look.memory);
}

void vfork_release_parent(struct linux_process *process)
{
	int fd = process->tasks->waited_by;

	if (fd < 0)
		return;
	process->tasks->waited_by = -1;
	linux_close_hidden(fd);
}

/* What differs from the parent's page is as if the kernel had written it. */
static void take_page(struct linux_process *process,
		      const struct vfork_message *back)
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
 * Receives once, and perhaps a descriptor.  Signals that come while a parent
 * waits are delivered later, but one that ends it does: then 0 is returned, as
 * when the other end is closed.
 */
static int64_t wait_and_receive(struct linux_process *process, int fd,
				struct msghdr *header)
{
	int64_t got;

	do {
		if (signals_is_deadly(process))
			return 0;
		if (!process->thread->pending)
			got = host_call(process, SYS_recvmsg, (uint64_t)fd,
					host_pointer(header),
					MSG_CMSG_CLOEXEC);
		else if ((got = recvmsg(fd, header, MSG_CMSG_CLOEXEC)) < 0)
			got = -errno;
	} while (got == -RESTART_IF_ASKED || got == -RESTART_ALWAYS ||
		 got == -EINTR);
	return got;
}

static bool take_message(struct linux_process *process, int fd)
{
	struct vfork_message message;
	struct iovec bytes = { &message, sizeof(message) };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *part;
	int passed = -1;

	if (wait_and_receive(process, fd, &header) <= 0)
		return false;
	part = CMSG_FIRSTHDR(&header);
	if (part && part->cmsg_type == SCM_RIGHTS)
		memcpy(&passed, CMSG_DATA(part), sizeof(passed));
	if (message.page == VFORK_CALL)
		vfork_perform(process, &message.call, passed);
	else
		take_page(process, &message);
	if (passed >= 0)
		close(passed);
	return true;
}

void vfork_wait(struct linux_process *process, int fd)
{
	while (take_message(process, fd))
		continue;
}
