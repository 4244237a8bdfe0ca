/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_memory.c - /proc/self/mem and pagemap: the guest's own memory */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/memory/mapped_files.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"

/* ------- mem ------- */

/* As for a debugger: permissions do not count, only what can be had. */
static bool look(struct linux_process *process, guest_addr addr, uint8_t *bytes,
		 size_t size)
{
	return !eof_tail_has(process, addr) &&
	       !memory_look(process->memory, addr, bytes, size);
}

/* What is private is the writer's to change, whatever its permissions. */
static bool poke(struct linux_process *process, guest_addr addr,
		 const uint8_t *bytes, size_t size)
{
	const struct region *region = memory_region_at(process->memory, addr);

	if (!region || eof_tail_has(process, addr) ||
	    (region->kind == REGION_SHARED && !(region->prot & MAY_WRITE)))
		return false;
	return !memory_poke(process->memory, addr, bytes, size);
}

int64_t proc_move_mem(struct linux_process *process, uint64_t at,
		      guest_addr addr, uint64_t size, enum memory_use use)
{
	uint8_t bytes[GUEST_PAGE];
	uint64_t done = 0;

	while (done < size) {
		size_t part = GUEST_PAGE - (at + done) % GUEST_PAGE;

		if (part > size - done)
			part = size - done;
		if (use == MEMORY_IN &&
		    copy_in(process, bytes, addr + done, part))
			return -EFAULT;
		if (use == MEMORY_IN ? !poke(process, at + done, bytes, part)
				     : !look(process, at + done, bytes, part))
			return done ? (int64_t)done : -EIO;
		if (use == MEMORY_OUT &&
		    copy_out(process, addr + done, bytes, part))
			return -EFAULT;
		done += part;
	}
	return (int64_t)done;
}

/* ------- pagemap ------- */

int proc_open_pagemap(void)
{
	return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* Entries of pages in a row in the host's memory. */
static void read_entries(int pagemap, const uint8_t *host, uint64_t *entries,
			 size_t count)
{
	size_t size = count * sizeof(*entries);
	off_t at = (off_t)((uintptr_t)host / GUEST_PAGE * sizeof(*entries));
	ssize_t got = pagemap < 0 ? -1 : pread(pagemap, entries, size, at);
	size_t whole = got > 0 ? (size_t)got : 0;

	memset((uint8_t *)entries + whole, 0, size - whole);
}

void proc_page_entries(struct linux_process *process, int pagemap,
		       uint64_t page, uint64_t *entries, size_t count)
{
	for (size_t done = 0, run; done < count; done += run) {
		uint64_t span;
		const uint8_t *host = memory_host(
			process->memory, (page + done) << GUEST_PAGE_SHIFT,
			(uint64_t)(count - done) << GUEST_PAGE_SHIFT, &span);

		run = host ? span >> GUEST_PAGE_SHIFT : 1;
		if (host)
			read_entries(pagemap, host, entries + done, run);
		else
			entries[done] = 0;
	}
}

int64_t proc_move_pagemap(struct linux_process *process, uint64_t at,
			  guest_addr addr, uint64_t size, enum memory_use use)
{
	const uint64_t pages = USER_END >> GUEST_PAGE_SHIFT;
	uint64_t entries[BOUNCE / sizeof(uint64_t)];
	uint64_t page = at / sizeof(*entries), done = 0;
	int pagemap;

	(void)use;
	if (at % sizeof(*entries) || size % sizeof(*entries))
		return -EINVAL;
	if (page >= pages)
		return 0;
	if (size / sizeof(*entries) > pages - page)
		size = (pages - page) * sizeof(*entries);
	pagemap = proc_open_pagemap();
	while (done < size) {
		size_t part = size - done < BOUNCE ? size - done : BOUNCE;

		proc_page_entries(process, pagemap,
				  page + done / sizeof(*entries), entries,
				  part / sizeof(*entries));
		if (copy_out(process, addr + done, entries, part))
			break;
		done += part;
	}
	if (pagemap >= 0)
		close(pagemap);
	return done || !size ? (int64_t)done : -EFAULT;
}
