/* SPDX-License-Identifier: GPL-2.0-or-later */
/* advice.c - madvise(2) and other calls that change no mapping */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Calls for the parts of a range that are mapped; a negative errno ends it. */
typedef int visit_part(struct linux_process *process,
		       const struct region *region, guest_addr addr,
		       uint64_t size);

/* What is not mapped is left out, and said in the end. */
static int each_part(struct linux_process *process, guest_addr addr,
		     uint64_t size, visit_part *visit)
{
	guest_addr end = addr + size;
	int result = 0;

	while (addr < end) {
		const struct region *region =
			memory_region_from(process->memory, addr);
		guest_addr stop;
		int rc;

		if (!region || region->start > addr)
			result = -ENOMEM;
		if (!region || region->start >= end)
			break;
		if (addr < region->start)
			addr = region->start;
		stop = region->end < end ? region->end : end;
		rc = visit(process, region, addr, stop - addr);
		if (rc)
			return rc;
		addr = stop;
	}
	return result;
}

/* Drops private pages; what is shared stays, as it does in the kernel. */
static int discard(struct linux_process *process, const struct region *region,
		   guest_addr addr, uint64_t size)
{
	if (region->kind != REGION_SHARED &&
	    strcmp(region->name, SHARED_NAME) != 0)
		memory_clear(process->memory, addr, size);
	return 0;
}

/* That may be done as late as never. */
static int discard_later(struct linux_process *process,
			 const struct region *region, guest_addr addr,
			 uint64_t size)
{
	(void)process;
	(void)addr;
	(void)size;
	return region->kind == REGION_ANON ? 0 : -EINVAL;
}

/* Cuts a hole into the file behind memory that is mapped shared. */
static int cut_hole(struct linux_process *process, guest_addr addr,
		    uint64_t size)
{
	uint64_t span;
	int rc = 0;

	for (uint64_t done = 0; done < size && !rc; done += span) {
		void *host = memory_at(process->memory, addr + done,
				       size - done, MEMORY_OUT, &span);

		if (!host)
			return -EACCES;
		memory_enter_files(process->memory);
		if (madvise(host, span, MADV_REMOVE))
			rc = -errno;
		memory_doubt_shared(process->memory);
		if (!rc)
			guest_wrote(process, addr + done, span);
	}
	return rc;
}

static int remove_pages(struct linux_process *process,
			const struct region *region, guest_addr addr,
			uint64_t size)
{
	if (region->kind == REGION_ANON)
		return -EINVAL;
	if (region->kind != REGION_SHARED)
		return -EACCES;
	return cut_hole(process, addr, size);
}

/* Pages are there when they are touched; but it is said which cannot be. */
static int64_t populate(struct linux_process *process, guest_addr addr,
			uint64_t size, unsigned need)
{
	guest_addr end = addr + size;

	while (addr < end) {
		const struct region *region =
			memory_region_at(process->memory, addr);

		if (!region)
			return -ENOMEM;
		if (eof_tail_has(process, addr))
			return -EFAULT;
		if (!(region->prot & need))
			return -EINVAL;
		addr = region->end;
	}
	return 0;
}

/* What would take locked pages out of memory. */
static bool is_refused_of_locked(int advice)
{
	switch (advice) {
	case MADV_DONTNEED:
	case MADV_REMOVE:
	case MADV_FREE:
	case MADV_COLD:
	case MADV_PAGEOUT:
		return true;
	default:
		return false;
	}
}

int64_t sys_madvise(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);

	(void)row;
	if (arg[0] % GUEST_PAGE || (arg[1] && !size) ||
	    !is_user_range(process, arg[0], size))
		return -EINVAL;
	if (is_refused_of_locked((int)arg[2]) &&
	    locks_have(process, arg[0], size))
		return -EINVAL;
	switch ((int)arg[2]) {
	case MADV_DONTNEED:
	case 24:	/* MADV_DONTNEED_LOCKED */
		peaks_before_less(process, size);
		return each_part(process, arg[0], size, discard);
	case MADV_FREE:
		return each_part(process, arg[0], size, discard_later);
	case MADV_REMOVE:
		return each_part(process, arg[0], size, remove_pages);
	case MADV_POPULATE_READ:
		return populate(process, arg[0], size, MAY_READ);
	case MADV_POPULATE_WRITE:
		return populate(process, arg[0], size, MAY_WRITE);
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_DOFORK:
	case MADV_MERGEABLE:
	case MADV_UNMERGEABLE:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_KEEPONFORK:
	case MADV_COLD:
	case MADV_PAGEOUT:
		return is_mapped(process, arg[0], size) ? 0 : -ENOMEM;
	default:
		return -EINVAL;
	}
}

int64_t sys_msync(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);
	uint64_t known = MS_ASYNC | MS_INVALIDATE | MS_SYNC;

	(void)row;
	if (arg[0] % GUEST_PAGE || arg[2] & ~known ||
	    (arg[2] & MS_ASYNC && arg[2] & MS_SYNC))
		return -EINVAL;
	if (arg[2] & MS_INVALIDATE && locks_have(process, arg[0], size))
		return -EBUSY;
	/* Shared files are mapped by the host too, which writes them back. */
	return is_mapped(process, arg[0], size) ? 0 : -ENOMEM;
}

int64_t sys_mincore(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	uint64_t pages = page_up(arg[1]) / GUEST_PAGE;
	uint8_t there[BOUNCE];

	(void)row;
	if (arg[0] % GUEST_PAGE)
		return -EINVAL;
	if (!is_user_range(process, arg[0], arg[1]) ||
	    !is_mapped(process, arg[0], page_up(arg[1])))
		return -ENOMEM;
	memset(there, 1, sizeof(there));
	for (uint64_t done = 0; done < pages; done += sizeof(there)) {
		uint64_t part = pages - done;

		if (part > sizeof(there))
			part = sizeof(there);
		if (copy_out(process, arg[2] + done, there, part))
			return -EFAULT;
	}
	return 0;
}
