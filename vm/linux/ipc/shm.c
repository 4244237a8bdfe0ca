/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shm.c - shared memory of System V
 *
 * Segments are the host's own, so that programs that are not recorded can have
 * them too.  One that is attached is mapped by the host twice, for the guest
 * and for its kernel, and in pieces; each counts as attached, which shmctl(2)
 * must not show.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/ipc/ipc_internal.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

int64_t sys_shmget(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	if (arg[2] & SHM_HUGETLB)
		return -ENOMEM;
	return host_call_array(process, row->host, arg);
}

/* ------- attaching ------- */

/* Where it is to be attached; 0: anywhere; a negative errno. */
static int64_t wanted_place(guest_addr addr, int flags)
{
	if (!addr)
		return flags & SHM_REMAP ? -EINVAL : 0;
	if (addr % GUEST_PAGE && !(flags & SHM_RND))
		return -EINVAL;
	addr = page_down(addr);
	if (!addr && flags & SHM_REMAP)
		return -EINVAL;
	return (int64_t)addr;
}

/* The same when its size is known. */
static int64_t find_room(struct linux_process *process, guest_addr addr,
			 uint64_t size, int flags)
{
	if (!addr)
		return find_place(process, size);
	if (!is_user_range(process, addr, size) ||
	    (!(flags & SHM_REMAP) && !is_free(process, addr, size)))
		return -EINVAL;
	return (int64_t)addr;
}

static int64_t attach(struct linux_process *process, int id, void *host,
		      guest_addr addr, int flags)
{
	bool is_limited = flags & SHM_RDONLY;
	char name[32];
	struct region region = {
		.prot = MAY_READ, .kind = REGION_SHARED, .name = name,
	};
	struct shmid_ds segment;
	int64_t start;

	if (shmctl(id, IPC_STAT, &segment))
		return -errno;
	start = find_room(process, addr, page_up(segment.shm_segsz), flags);
	if (start < 0)
		return start;
	if (!is_limited)
		region.prot |= MAY_WRITE;
	if (flags & SHM_EXEC)
		region.prot |= MAY_EXEC;
	snprintf(name, sizeof(name), SHM_NAME_START "%08x (deleted)",
		 (unsigned)segment.shm_perm.__key);
	region.start = (guest_addr)start;
	region.end = region.start + page_up(segment.shm_segsz);
	if (!limits_allow_region(process, &region))
		return -ENOMEM;
	eof_tail_forget(process, region.start, region.end - region.start);
	if (memory_attach(process->memory, &region, host, is_limited,
			  (uint64_t)id, NULL))
		return -ENOMEM;
	return start;
}

int64_t sys_shmat(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	int id = (int)arg[0], flags = (int)arg[2];
	int64_t addr = wanted_place(arg[1], flags), result;
	void *host;

	(void)row;
	if (id < 0)
		return -EINVAL;
	if (addr < 0)
		return addr;
	host = shmat(id, NULL, flags & (SHM_RDONLY | SHM_EXEC));
	if (host == (void *)-1)
		return -errno;
	result = attach(process, id, host, (guest_addr)addr, flags);
	shmdt(host);
	return result;
}

/* The first part of what was attached at `addr`; false if there is none. */
static bool find_part(struct linux_process *process, guest_addr addr,
		      struct region *out, uint64_t *number)
{
	size_t count;
	const struct region *all = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++) {
		if (all[i].start < addr || all[i].start - addr != all[i].offset ||
		    !memory_attached_at(process->memory, all[i].start, number))
			continue;
		*out = all[i];
		return true;
	}
	return false;
}

int64_t sys_shmdt(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	uint64_t first = 0, number;
	struct region part;
	bool found = false;

	(void)row;
	if (arg[0] % GUEST_PAGE)
		return -EINVAL;
	while (find_part(process, arg[0], &part, &number) &&
	       (!found || number == first)) {
		found = true;
		first = number;
		peaks_before_less(process, part.end - part.start);
		mappings_lose_marks(process, part.start,
				    part.end - part.start);
		if (memory_unmap(process->memory, part.start,
				 part.end - part.start))
			return -ENOMEM;
	}
	return found ? 0 : -EINVAL;
}

/* ------- shmctl ------- */

/* How long it may take until all that the host counts is found. */
#define ROUNDS 10
#define NAP 1000		/* microseconds from round to round */

/*
 * What shmctl(2) fills in, with the count of attachments for the guest.
 * Relatives do not divide their mappings while this process is inside.
 */
static int64_t ask_segment(struct linux_process *process,
			   const struct ipc_control *control,
			   struct shmid_ds *segment)
{
	int64_t result = 0;
	bool done = false;

	memory_enter_files(process->memory);
	for (int round = 0; round < ROUNDS && !done; round++) {
		uint64_t count;

		if (round)
			usleep(NAP);
		result = ipc_control(process, SYS_shmctl, control, segment);
		if (result < 0)
			break;
		count = segment->shm_nattch;
		done = shm_count(process, control->command == IPC_STAT ?
						   (int)control->id :
						   (int)result, &count);
		segment->shm_nattch = count;
	}
	memory_doubt_shared(process->memory);
	return result;
}

static int64_t tell_segment(struct linux_process *process,
			    const struct ipc_control *control)
{
	struct shmid_ds segment;
	int64_t result = ask_segment(process, control, &segment);

	if (result < 0)
		return result;
	return struct_out(process, S_SHMID_DS, control->buffer, &segment) ?
		       -EFAULT : result;
}

int64_t sys_shmctl(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	static const struct ipc_kind kind = {
		.number = SYS_shmctl, .stat = SHM_STAT,
		.stat_any = SHM_STAT_ANY, .info = SHM_INFO,
		.object = S_SHMID_DS,
		.limits = S_SHMINFO,
		.usage = S_SHM_INFO,
	};
	struct ipc_control control = {
		.id = arg[0], .command = (int)arg[1], .buffer = arg[2],
	};

	(void)row;
	if (ipc_is_stat(&control, &kind))
		return tell_segment(process, &control);
	return ipc_perform(process, &kind, &control, arg);
}
