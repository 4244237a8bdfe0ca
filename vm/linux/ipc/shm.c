/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shm.c - shared memory of System V
 *
 * Segments are the host's own, so that programs that are not recorded can have
 * them too.  One that is attached is mapped by the host twice, for the guest
 * and for its kernel, and in pieces; each counts as attached, which shmctl(2)
 * must not show.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

#define NAME_START "/SYSV"

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
	snprintf(name, sizeof(name), NAME_START "%08x (deleted)",
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
		if (memory_unmap(process->memory, part.start,
				 part.end - part.start))
			return -ENOMEM;
	}
	return found ? 0 : -EINVAL;
}

/* ------- how often it is attached ------- */

/* How long it may take until all that the host counts is found. */
#define ROUNDS 10
#define NAP 1000		/* microseconds from round to round */

/* How often a segment is attached, by some processes. */
struct tally {
	uint64_t host;		/* as the host counts */
	uint64_t guest;		/* as the guest is to see it */
};

/* A line of /proc/PID/maps. */
struct line {
	uint64_t start, end, offset;
};

static bool is_part(const char *text, int id, struct line *line)
{
	unsigned long long inode;
	int name = 0;

	return sscanf(text,
		      "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %llu %n",
		      &line->start, &line->end, &line->offset, &inode,
		      &name) == 4 &&
	       inode == (unsigned long long)id && name &&
	       !strncmp(text + name, NAME_START, strlen(NAME_START));
}

/* Whether the host has it in pieces only for their permissions. */
static bool goes_on(const struct line *before, const struct line *line)
{
	return before->end && line->start <= before->end &&
	       line->start - line->offset == before->start - before->offset;
}

/* Counts the mappings of a process, and those that are not of one piece. */
static void count_lines(const char *pid, int id, uint64_t *lines,
			uint64_t *whole)
{
	struct line before = { 0 }, line;
	char path[64], text[512];
	FILE *maps;

	*lines = *whole = 0;
	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(text, sizeof(text), maps)) {
		if (!is_part(text, id, &line))
			continue;
		*lines += 1;
		*whole += !goes_on(&before, &line);
		before = line;
	}
	if (maps)
		fclose(maps);
}

/*
 * Our processes have each segment twice, while they attach or detach it once
 * or thrice.
 */
static void count_in(struct linux_process *process, const char *pid, int id,
		     struct tally *ours, struct tally *others)
{
	bool is_ours = is_relative((uint32_t)atoi(pid));
	struct tally *tally = is_ours ? ours : others;
	uint64_t lines, whole;

	if (!tally)
		return;
	count_lines(pid, id, &lines, &whole);
	tally->host += lines;
	if (atoi(pid) == getpid())
		tally->guest += memory_count_attached(process->memory,
						      (uint64_t)id);
	else
		tally->guest += is_ours ? whole / 2 : lines;
}

/* By all processes; without `others` only by ours. */
static void count_all(struct linux_process *process, int id,
		      struct tally *ours, struct tally *others)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			count_in(process, entry->d_name, id, ours, others);
	if (folder)
		closedir(folder);
}

/*
 * What the host counts and what processes have is read one after the other,
 * while they attach, detach and end.  The memory of one that has ended may even
 * stay for a moment, when somebody reads its maps.  So it is read until every
 * mapping that the host counts is found.  What is not found then is of
 * processes that are kept from us.
 */
static bool count_once(struct linux_process *process, int id, uint64_t *count)
{
	struct tally ours = { 0 }, others = { 0 };
	uint64_t host = *count;

	count_all(process, id, &ours, NULL);
	if (host != ours.host) {
		ours = (struct tally){ 0 };
		count_all(process, id, &ours, &others);
	}
	*count = ours.guest + (host > ours.host ? host - ours.host : 0);
	return host == ours.host + others.host;
}

/* ------- shmctl ------- */

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
		done = count_once(process, control->command == IPC_STAT ?
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
