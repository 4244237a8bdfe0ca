/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - /proc/self/mem and pagemap: the guest's own memory */
#include <errno.h>
#include <unistd.h>

#include "vm/linux/guest_memory.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc_internal.h"
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

int64_t proc_move_pagemap(struct linux_process *process, uint64_t at,
			  guest_addr addr, uint64_t size, enum memory_use use)
{
	const uint64_t pages = process->abi->user_end >> GUEST_PAGE_SHIFT;
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
	pagemap = pagemap_open();
	while (done < size) {
		size_t part = size - done < BOUNCE ? size - done : BOUNCE;

		pagemap_entries(process, pagemap,
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
