/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.c - mlock(2) and its family
 *
 * Which pages are locked is only noted, and counted for RLIMIT_MEMLOCK, which
 * is the host's: nobody but the host's kernel could tell whether they are in
 * memory.
 *
 * Source: Linux, mm/mlock.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Of mlock2(2); the C library's header may lack it. */
#define LOCK_ON_FAULT 1u

/*
 * Whether the limit does not count for this process.  More than its
 * capabilities decides that (user namespaces, security modules), so the host
 * is asked to lock a page with a limit of none.
 */
static bool is_exempt(void)
{
	struct rlimit limit, none;
	void *page;
	bool locked;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return false;
	page = mmap(NULL, GUEST_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED)
		return false;
	none = (struct rlimit){ 0, limit.rlim_max };
	locked = !setrlimit(RLIMIT_MEMLOCK, &none) && !mlock(page, GUEST_PAGE);
	setrlimit(RLIMIT_MEMLOCK, &limit);
	munmap(page, GUEST_PAGE);
	return locked;
}

static uint64_t limit_pages(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return 0;
	return limit.rlim_cur >> GUEST_PAGE_SHIFT;
}

/* Whether anything may be locked at all. */
static bool may_lock(void)
{
	struct rlimit limit;

	return (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur) ||
	       is_exempt();
}

static bool fits(uint64_t size)
{
	return size >> GUEST_PAGE_SHIFT <= limit_pages() || is_exempt();
}

uint64_t locks_size(const struct linux_process *process)
{
	return marks_size(&process->space->locked, 0, UINT64_MAX);
}

bool locks_have(const struct linux_process *process, guest_addr addr,
		uint64_t size)
{
	return marks_size(&process->space->locked, addr, addr + size) > 0;
}

int locks_allow(struct linux_process *process, uint64_t size, bool asked)
{
	if (!asked && !process->space->lock_new)
		return 0;
	if (asked && !may_lock())
		return -EPERM;
	return fits(locks_size(process) + size) ? 0 : -EAGAIN;
}

void locks_note_new(struct linux_process *process, guest_addr addr,
		    uint64_t size, bool asked)
{
	if (asked || process->space->lock_new)
		marks_set(&process->space->locked, addr, addr + size);
}

void locks_forget(struct linux_process *process)
{
	marks_drop(&process->space->locked);
	process->space->lock_new = false;
}

/* ------- mlock and munlock ------- */

/*
 * Up to where the pages from `addr` on are mapped.  `*all_there`: each can be
 * brought into memory, which pages without any permission cannot.
 */
static guest_addr mapped_end(struct linux_process *process, guest_addr addr,
			     guest_addr end, bool *all_there)
{
	*all_there = true;
	while (addr < end) {
		const struct region *region =
			memory_region_at(process->memory, addr);

		if (!region)
			break;
		*all_there &= region->prot != 0;
		addr = region->end;
	}
	return addr < end ? addr : end;
}

static int64_t change(struct linux_process *process, const uint64_t *arg,
		      bool locks, bool on_fault)
{
	guest_addr start = page_down(arg[0]), mapped;
	uint64_t size = page_up(arg[1] + (arg[0] - start));
	guest_addr end = start + size;
	struct marks *locked = &process->space->locked;
	bool all_there;

	if (locks && !may_lock())
		return -EPERM;
	if (locks && !fits(size + locks_size(process) -
			   marks_size(locked, start, end)))
		return -ENOMEM;
	if (end < start)
		return -EINVAL;
	mapped = mapped_end(process, start, end, &all_there);
	if (!locks)
		marks_clear(locked, start, mapped);
	else if (!marks_set(locked, start, mapped))
		return -ENOMEM;
	return mapped < end || (locks && !on_fault && !all_there) ? -ENOMEM :
								   0;
}

int64_t sys_mlock(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	(void)row;
	return change(process, arg, true, false);
}

int64_t sys_mlock2(struct linux_process *process, const struct linux_call *row,
		   const uint64_t *arg)
{
	uint32_t flags = (uint32_t)arg[2];

	(void)row;
	if (flags & ~LOCK_ON_FAULT)
		return -EINVAL;
	return change(process, arg, true, flags & LOCK_ON_FAULT);
}

int64_t sys_munlock(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	return change(process, arg, false, false);
}

/* ------- mlockall and munlockall ------- */

static bool lock_all(struct linux_process *process)
{
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++)
		if (!marks_set(&process->space->locked,
			       limits_start(process, &regions[i]),
			       regions[i].end))
			return false;
	return true;
}

int64_t sys_mlockall(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	uint32_t flags = (uint32_t)arg[0];
	uint32_t known = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;

	(void)row;
	if (!flags || flags & ~known || flags == MCL_ONFAULT)
		return -EINVAL;
	if (!may_lock())
		return -EPERM;
	if (flags & MCL_CURRENT && !fits(limits_mapped(process)))
		return -ENOMEM;
	process->space->lock_new = flags & MCL_FUTURE;
	return flags & MCL_CURRENT && !lock_all(process) ? -ENOMEM : 0;
}

int64_t sys_munlockall(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	(void)arg;
	locks_forget(process);
	return 0;
}
