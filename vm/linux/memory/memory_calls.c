/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_calls.c - mmap(2) and its family */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/host/host.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Below this nobody may map: vm.mmap_min_addr. */
#define LOWEST UINT64_C(0x10000)

static unsigned protection(uint64_t prot)
{
	/* Linux's bits are ours; what may be written may be read. */
	unsigned result = prot & (MAY_READ | MAY_WRITE | MAY_EXEC);

	return result & MAY_WRITE ? result | MAY_READ : result;
}

bool is_user_range(const struct linux_process *process, guest_addr addr,
		   uint64_t size)
{
	guest_addr end = process->abi->user_end;

	return size <= end && addr <= end - size;
}

bool is_free(struct linux_process *process, guest_addr addr, uint64_t size)
{
	return memory_find_gap(process->memory, size, addr, addr + size) ==
	       addr;
}

/* Up to where from `addr` on every page is mapped, at most to `end`. */
static guest_addr mapped_end(const struct linux_process *process,
			     guest_addr addr, guest_addr end)
{
	while (addr < end) {
		const struct region *region =
			memory_region_at(process->memory, addr);

		if (!region)
			return addr;
		addr = region->end;
	}
	return end;
}

bool is_mapped(struct linux_process *process, guest_addr addr, uint64_t size)
{
	return mapped_end(process, addr, addr + size) == addr + size;
}

/* ------- mmap ------- */

struct request {
	guest_addr addr;
	uint64_t size;
	uint64_t prot, flags;
	int fd;
	uint64_t offset;
};

/* Chooses the address; a negative errno if there is none. */
static int64_t place(struct linux_process *process,
		     const struct request *request)
{
	guest_addr hint = page_up(request->addr);
	guest_addr found;

	if (request->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (request->addr % GUEST_PAGE)
			return -EINVAL;
		if (!is_user_range(process, request->addr, request->size))
			return -ENOMEM;
		if (request->addr < LOWEST)
			return -EPERM;
		if (request->flags & MAP_FIXED_NOREPLACE &&
		    !is_free(process, request->addr, request->size))
			return -EEXIST;
		return (int64_t)request->addr;
	}
	if (hint >= LOWEST && is_user_range(process, hint, request->size) &&
	    is_free(process, hint, request->size))
		return (int64_t)hint;
	if (request->flags & process->abi->map_low)
		found = memory_find_gap(process->memory, request->size,
					process->abi->low_start,
					process->abi->low_end);
	else
		found = memory_find_gap(process->memory, request->size, LOWEST,
					process->space->layout.mmap_top);
	return found ? (int64_t)found : -ENOMEM;
}

int64_t find_place(struct linux_process *process, uint64_t size)
{
	const struct request request = { .size = size };

	return place(process, &request);
}

/* Asks the host whether it would map the file like this. */
static int probe(const struct request *request)
{
	int flags = (int)request->flags &
		    (MAP_TYPE | MAP_SYNC | MAP_NORESERVE | MAP_DENYWRITE);
	void *at = mmap(NULL, request->size, (int)request->prot & 7, flags,
			request->fd, (off_t)request->offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, request->size);
	return 0;
}

/* Zeros that a child of a fork will share: a file that has no name. */
static int64_t map_shared_zeros(struct linux_process *process,
				const struct request *request,
				guest_addr start)
{
	const struct region region = {
		.start = start,
		.end = start + request->size,
		.prot = protection(request->prot),
		.kind = REGION_SHARED,
		.offset = request->offset,
		.name = SHARED_NAME,
	};
	struct stat file;
	int fd = memfd_create("shared", MFD_CLOEXEC);
	int rc = -ENOMEM;

	if (fd < 0)
		return -ENOMEM;
	eof_tail_forget(process, start, request->size);
	if (!ftruncate(fd, (off_t)request->size) && !fstat(fd, &file) &&
	    !memory_map_alone(process->memory, &region, fd, NULL)) {
		eof_tail_note(process, &region, &file);
		rc = 0;
	}
	close(fd);
	return rc ? rc : (int64_t)start;
}

/* /dev/zero, which each process maps anew, if it may be written. */
static bool is_zeros(const struct request *request, const struct stat *file)
{
	return S_ISCHR(file->st_mode) && file->st_rdev == makedev(1, 5) &&
	       (request->flags & MAP_TYPE) != MAP_PRIVATE &&
	       (fcntl(request->fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

static int64_t map_file(struct linux_process *process,
			const struct request *request, guest_addr start)
{
	char name[PATH_MAX];
	struct region region = {
		.start = start,
		.end = start + request->size,
		.prot = protection(request->prot),
		.kind = (request->flags & MAP_TYPE) == MAP_PRIVATE ?
				REGION_FILE :
				REGION_SHARED,
		.offset = request->offset,
		.name = name,
	};
	struct stat file;

	if (fstat(request->fd, &file))
		return -errno;
	if (is_zeros(request, &file))
		return map_shared_zeros(process, request, start);
	descriptor_path(request->fd, name, sizeof(name));
	if (mapped_files_note(process, name, &file))
		return -ENOMEM;
	eof_tail_forget(process, start, request->size);
	if (memory_map(process->memory, &region, request->fd, NULL))
		return -ENOMEM;
	eof_tail_note(process, &region, &file);
	return (int64_t)start;
}

static int64_t map_zeros(struct linux_process *process,
			 const struct request *request, guest_addr start)
{
	const struct region region = {
		.start = start,
		.end = start + request->size,
		.prot = protection(request->prot),
		.kind = REGION_ANON,
		.name = "",
	};

	if ((request->flags & MAP_TYPE) != MAP_PRIVATE) {
		struct request from_start = *request;

		from_start.offset = 0;
		return map_shared_zeros(process, &from_start, start);
	}
	eof_tail_forget(process, start, request->size);
	if (memory_map(process->memory, &region, -1, NULL))
		return -ENOMEM;
	return (int64_t)start;
}

static int check_request(const struct linux_process *process,
			 const struct request *request)
{
	uint64_t type = request->flags & MAP_TYPE;
	int rc;

	if (!(request->flags & MAP_ANONYMOUS)) {
		if (is_hidden(request->fd) ||
		    fcntl(request->fd, F_GETFD) < 0)
			return -EBADF;
	}
	if (request->offset % GUEST_PAGE || !request->size)
		return -EINVAL;
	if (type != MAP_PRIVATE && type != MAP_SHARED &&
	    type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (request->flags & MAP_GROWSDOWN &&
	    (type != MAP_PRIVATE || !(request->flags & MAP_ANONYMOUS)))
		return -EINVAL;
	if (request->flags & MAP_HUGETLB)
		return request->flags & MAP_ANONYMOUS ? -ENOMEM : -EINVAL;
	if (!page_up(request->size) || request->size > process->abi->user_end)
		return -ENOMEM;
	if (!(request->flags & MAP_ANONYMOUS)) {
		rc = probe(request);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_allowed(struct linux_process *process,
		       const struct request *request, guest_addr start)
{
	bool is_private = (request->flags & MAP_TYPE) == MAP_PRIVATE;
	const struct region region = {
		.start = start,
		.end = start + request->size,
		.prot = protection(request->prot),
		.kind = is_private ? REGION_ANON : REGION_SHARED,
		.name = "",
	};

	return limits_allow_region(process, &region);
}

static void note_marks(struct linux_process *process,
		       const struct request *request, guest_addr start)
{
	locks_note_new(process, start, request->size,
		       request->flags & MAP_LOCKED);
	if (request->flags & MAP_GROWSDOWN)
		marks_set(&process->space->growing, start,
			  start + request->size);
}

int64_t sys_mmap(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	struct request request = {
		.addr = arg[0],
		.size = arg[1],
		.prot = arg[2],
		.flags = arg[3],
		.fd = (int)arg[4],
		.offset = arg[5],
	};
	int64_t start = check_request(process, &request);
	int rc;

	(void)row;
	if (start < 0)
		return start;
	request.size = page_up(request.size);
	start = place(process, &request);
	if (start < 0)
		return start;
	rc = locks_allow(process, request.size, request.flags & MAP_LOCKED);
	if (rc)
		return rc;
	if (!is_allowed(process, &request, (guest_addr)start))
		return -ENOMEM;
	if (request.flags & MAP_FIXED)
		peaks_before_less(process, request.size);
	if (request.flags & MAP_ANONYMOUS)
		start = map_zeros(process, &request, (guest_addr)start);
	else
		start = map_file(process, &request, (guest_addr)start);
	if (start >= 0)
		note_marks(process, &request, (guest_addr)start);
	return start;
}

int64_t sys_munmap(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);

	(void)row;
	if (arg[0] % GUEST_PAGE || !size ||
	    !is_user_range(process, arg[0], size))
		return -EINVAL;
	peaks_before_less(process, size);
	eof_tail_forget(process, arg[0], size);
	return memory_unmap(process->memory, arg[0], size) ? -ENOMEM : 0;
}

/* ------- mprotect ------- */

/* The first mapping that ends behind `addr`, as others see it. */
struct search {
	guest_addr addr;
	struct region found;
};

static void look(void *context, const struct region *region)
{
	struct search *search = context;

	if (!search->found.end && region->end > search->addr)
		search->found = *region;
}

/*
 * With PROT_GROWSDOWN the change begins where the mapping does, which must be
 * one that grows down.  None grows up on this processor.
 */
static int widen(struct linux_process *process, uint64_t prot,
		 guest_addr *start, guest_addr end)
{
	struct search search = { .addr = *start };
	const struct region *found = &search.found;

	if (!(prot & (PROT_GROWSDOWN | PROT_GROWSUP)))
		return 0;
	each_whole_region(process, look, &search);
	if (!found->end || found->start >= end ||
	    (prot & PROT_GROWSUP && found->start > *start))
		return -ENOMEM;
	if (prot & PROT_GROWSUP ||
	    (strcmp(found->name, "[stack]") &&
	     !marks_size(&process->space->growing, found->start,
			 found->start + GUEST_PAGE)))
		return -EINVAL;
	*start = found->start;
	return 0;
}

/* What is before a hole, or a mapping that is refused, changes. */
static int64_t protect(struct linux_process *process, guest_addr start,
		       guest_addr end, unsigned prot)
{
	guest_addr stop = limits_protect(
		process, start, mapped_end(process, start, end), prot);
	guest_addr limited = prot & MAY_WRITE ?
		memory_limited_from(process->memory, start, stop) : stop;
	int refusal = limited < stop ? -EACCES : -ENOMEM;

	if (limited == start ||
	    memory_protect(process->memory, start, limited - start, prot))
		return refusal;
	eof_tail_protect(process, start, limited - start, prot);
	return limited == end ? 0 : refusal;
}

int64_t sys_mprotect(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);
	uint64_t grows = PROT_GROWSDOWN | PROT_GROWSUP;
	uint64_t known = PROT_READ | PROT_WRITE | PROT_EXEC | grows |
			 8 /* PROT_SEM */;
	guest_addr start = arg[0];
	int rc;

	(void)row;
	if (arg[0] % GUEST_PAGE || (arg[2] & grows) == grows)
		return -EINVAL;
	if (!arg[1])
		return 0;
	if (!size || arg[0] + size < size)
		return -ENOMEM;
	if (arg[2] & ~known)
		return -EINVAL;
	if (!is_user_range(process, arg[0], size))
		return -ENOMEM;
	rc = widen(process, arg[2], &start, arg[0] + size);
	if (rc)
		return rc;
	return protect(process, start, arg[0] + size, protection(arg[2]));
}

int64_t sys_pkey_mprotect(struct linux_process *process,
			  const struct linux_call *row, const uint64_t *arg)
{
	if ((int)arg[3] != -1)
		return -EINVAL;		/* the guest's processor has no keys */
	return sys_mprotect(process, row, arg);
}

/* ------- brk ------- */

static bool may_grow(struct linux_process *process, guest_addr from,
		     guest_addr to)
{
	return to <= process->abi->user_end &&
	       is_free(process, from, to - from) &&
	       limits_allow(process, to - from, to - from) &&
	       !locks_allow(process, to - from, false);
}

int64_t sys_brk(struct linux_process *process, const struct linux_call *row,
		const uint64_t *arg)
{
	struct layout *layout = &process->space->layout;
	guest_addr old_end = page_up(layout->brk), new_end = page_up(arg[0]);

	(void)row;
	if (arg[0] < layout->brk_start || new_end < arg[0] ||
	    !limits_allow_brk(process, arg[0]))
		return (int64_t)layout->brk;
	if (new_end > old_end) {
		const struct region region = {
			.start = old_end,
			.end = new_end,
			.prot = MAY_READ | MAY_WRITE,
			.kind = REGION_ANON,
			.name = "[heap]",
		};

		if (!may_grow(process, old_end, new_end) ||
		    memory_map(process->memory, &region, -1, NULL))
			return (int64_t)layout->brk;
		locks_note_new(process, old_end, new_end - old_end, false);
	} else if (new_end < old_end) {
		peaks_before_less(process, old_end - new_end);
		mappings_lose_marks(process, new_end, old_end - new_end);
		if (memory_unmap(process->memory, new_end, old_end - new_end))
			return (int64_t)layout->brk;
	}
	layout->brk = arg[0];
	return (int64_t)layout->brk;
}
