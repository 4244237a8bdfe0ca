/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_calls.c - mmap(2) and its family */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/handlers.h"
#include "vm/linux/process.h"

/* Below this nobody may map: vm.mmap_min_addr. */
#define LOWEST UINT64_C(0x10000)
#define GAP_32BIT_LOW UINT64_C(0x40000000)
#define GAP_32BIT_HIGH UINT64_C(0x80000000)

/* How shared memory without a file is called, by Linux too. */
#define SHARED_NAME "/dev/zero (deleted)"

static unsigned protection(uint64_t prot)
{
	/* Linux's bits are ours; what may be written may be read. */
	unsigned result = prot & (MAY_READ | MAY_WRITE | MAY_EXEC);

	return result & MAY_WRITE ? result | MAY_READ : result;
}

static bool is_user_range(guest_addr addr, uint64_t size)
{
	return size <= USER_END && addr <= USER_END - size;
}

/* Whether nothing is mapped there. */
static bool is_free(struct linux_process *process, guest_addr addr,
		    uint64_t size)
{
	return memory_find_gap(process->memory, size, addr, addr + size) ==
	       addr;
}

static bool is_mapped(struct linux_process *process, guest_addr addr,
		      uint64_t size)
{
	guest_addr end = addr + size;

	while (addr < end) {
		const struct region *region =
			memory_region_at(process->memory, addr);

		if (!region)
			return false;
		addr = region->end;
	}
	return true;
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
		if (!is_user_range(request->addr, request->size))
			return -ENOMEM;
		if (request->addr < LOWEST)
			return -EPERM;
		if (request->flags & MAP_FIXED_NOREPLACE &&
		    !is_free(process, request->addr, request->size))
			return -EEXIST;
		return (int64_t)request->addr;
	}
	if (hint >= LOWEST && is_user_range(hint, request->size) &&
	    is_free(process, hint, request->size))
		return (int64_t)hint;
	if (request->flags & MAP_32BIT)
		found = memory_find_gap(process->memory, request->size,
					GAP_32BIT_LOW, GAP_32BIT_HIGH);
	else
		found = memory_find_gap(process->memory, request->size, LOWEST,
					process->layout.mmap_top);
	return found ? (int64_t)found : -ENOMEM;
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

static void file_name(int fd, char *name, size_t room)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, name, room - 1);
	name[length > 0 ? length : 0] = '\0';
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
	file_name(request->fd, name, sizeof(name));
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
	bool shared = (request->flags & MAP_TYPE) != MAP_PRIVATE;
	const struct region region = {
		.start = start,
		.end = start + request->size,
		.prot = protection(request->prot),
		.kind = REGION_ANON,	/* nobody else: there is no fork */
		.name = shared ? SHARED_NAME : "",
	};

	eof_tail_forget(process, start, request->size);
	if (memory_map(process->memory, &region, -1, NULL))
		return -ENOMEM;
	return (int64_t)start;
}

static int check_request(const struct request *request)
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
	if (request->flags & MAP_HUGETLB)
		return request->flags & MAP_ANONYMOUS ? -ENOMEM : -EINVAL;
	if (!page_up(request->size) || request->size > USER_END)
		return -ENOMEM;
	if (!(request->flags & MAP_ANONYMOUS)) {
		rc = probe(request);
		if (rc)
			return rc;
	}
	return 0;
}

int64_t sys_mmap(struct linux_process *process, const struct syscall_row *row,
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
	int64_t start = check_request(&request);

	(void)row;
	if (start < 0)
		return start;
	request.size = page_up(request.size);
	start = place(process, &request);
	if (start < 0)
		return start;
	if (request.flags & MAP_ANONYMOUS)
		return map_zeros(process, &request, (guest_addr)start);
	return map_file(process, &request, (guest_addr)start);
}

int64_t sys_munmap(struct linux_process *process,
		   const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);

	(void)row;
	if (arg[0] % GUEST_PAGE || !size || !is_user_range(arg[0], size))
		return -EINVAL;
	eof_tail_forget(process, arg[0], size);
	return memory_unmap(process->memory, arg[0], size) ? -ENOMEM : 0;
}

int64_t sys_mprotect(struct linux_process *process,
		     const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);
	uint64_t known = PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN |
			 PROT_GROWSUP | 8 /* PROT_SEM */;

	(void)row;
	if (arg[0] % GUEST_PAGE || arg[2] & ~known)
		return -EINVAL;
	if (!arg[1])
		return 0;
	if (!size || !is_user_range(arg[0], size))
		return -ENOMEM;
	if (memory_protect(process->memory, arg[0], size, protection(arg[2])))
		return -ENOMEM;
	eof_tail_protect(process, arg[0], size, protection(arg[2]));
	return 0;
}

int64_t sys_pkey_mprotect(struct linux_process *process,
			  const struct syscall_row *row, const uint64_t *arg)
{
	if ((int)arg[3] != -1)
		return -EINVAL;		/* the guest's processor has no keys */
	return sys_mprotect(process, row, arg);
}

/* ------- brk ------- */

static bool may_grow(struct linux_process *process, guest_addr from,
		     guest_addr to)
{
	struct rlimit limit;

	if (to > USER_END || !is_free(process, from, to - from))
		return false;
	if (getrlimit(RLIMIT_DATA, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return true;
	return to - process->layout.brk_start <= limit.rlim_cur;
}

int64_t sys_brk(struct linux_process *process, const struct syscall_row *row,
		const uint64_t *arg)
{
	struct layout *layout = &process->layout;
	guest_addr old_end = page_up(layout->brk), new_end = page_up(arg[0]);

	(void)row;
	if (arg[0] < layout->brk_start || new_end < arg[0])
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
	} else if (new_end < old_end &&
		   memory_unmap(process->memory, new_end, old_end - new_end)) {
		return (int64_t)layout->brk;
	}
	layout->brk = arg[0];
	return (int64_t)layout->brk;
}

/* ------- mremap ------- */

/* Maps `more` bytes behind `old_end` like what is before it, at `addr`. */
static int extend(struct linux_process *process, const struct region *like,
		  guest_addr old_end, guest_addr addr, uint64_t more)
{
	struct region region = *like;
	int fd = -1;
	int rc;

	region.start = addr;
	region.end = addr + more;
	if (region.kind != REGION_ANON) {
		region.offset += old_end - like->start;
		fd = open(region.name,
			  (region.kind == REGION_SHARED &&
					   region.prot & MAY_WRITE ?
				   O_RDWR :
				   O_RDONLY) |
				  O_CLOEXEC);
		if (fd < 0)
			return -ENOMEM;
	}
	eof_tail_forget(process, addr, more);
	rc = memory_map(process->memory, &region, fd, NULL);
	if (!rc && fd >= 0) {
		struct stat file;

		if (!fstat(fd, &file))
			eof_tail_note(process, &region, &file);
	}
	if (fd >= 0)
		close(fd);
	return rc ? -ENOMEM : 0;
}

static int64_t move_mapping(struct linux_process *process,
			    const struct region *like, const uint64_t *arg,
			    uint64_t old_size, uint64_t new_size, guest_addr to)
{
	uint64_t moved = old_size < new_size ? old_size : new_size;
	struct region copy = *like;	/* the move changes the array */
	int rc;

	eof_tail_forget(process, arg[0], old_size);
	if (arg[3] & MREMAP_FIXED) {
		eof_tail_forget(process, to, new_size);
		if (memory_unmap(process->memory, to, new_size))
			return -ENOMEM;
	}
	if (memory_move(process->memory, arg[0], to, moved))
		return -ENOMEM;
	if (old_size > moved)
		memory_unmap(process->memory, arg[0] + moved,
			     old_size - moved);
	if (new_size > moved) {
		rc = extend(process, &copy, arg[0] + old_size, to + moved,
			    new_size - moved);
		if (rc)
			return rc;
	}
	if (arg[3] & MREMAP_DONTUNMAP) {
		copy.end = arg[0] + old_size;
		copy.start = arg[0];
		copy.kind = REGION_ANON;
		copy.offset = 0;
		if (memory_map(process->memory, &copy, -1, NULL))
			return -ENOMEM;
	}
	return (int64_t)to;
}

static int check_mremap(const uint64_t *arg, uint64_t old_size,
			uint64_t new_size)
{
	uint64_t flags = arg[3];

	if (flags & ~(uint64_t)(MREMAP_MAYMOVE | MREMAP_FIXED |
				MREMAP_DONTUNMAP))
		return -EINVAL;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) &&
	    !(flags & MREMAP_MAYMOVE))
		return -EINVAL;
	if (flags & MREMAP_DONTUNMAP && old_size != new_size)
		return -EINVAL;
	if (arg[0] % GUEST_PAGE || !new_size || !old_size)
		return -EINVAL;
	if (flags & MREMAP_FIXED &&
	    (arg[4] % GUEST_PAGE || !is_user_range(arg[4], new_size) ||
	     (arg[0] < arg[4] + new_size && arg[4] < arg[0] + old_size)))
		return -EINVAL;
	if (!is_user_range(arg[0], old_size) || new_size > USER_END)
		return -EFAULT;
	return 0;
}

int64_t sys_mremap(struct linux_process *process,
		   const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t old_size = page_up(arg[1]), new_size = page_up(arg[2]);
	const struct region *like;
	struct request request = { .size = new_size };
	int64_t to = check_mremap(arg, old_size, new_size);

	(void)row;
	if (to < 0)
		return to;
	like = memory_region_at(process->memory, arg[0]);
	if (!like || !is_mapped(process, arg[0], old_size))
		return -EFAULT;
	if (arg[3] & MREMAP_FIXED)
		return move_mapping(process, like, arg, old_size, new_size,
				    arg[4]);
	if (!(arg[3] & MREMAP_DONTUNMAP) && new_size <= old_size) {
		if (new_size < old_size) {
			eof_tail_forget(process, arg[0] + new_size,
				     old_size - new_size);
			memory_unmap(process->memory, arg[0] + new_size,
				     old_size - new_size);
		}
		return (int64_t)arg[0];
	}
	if (!(arg[3] & MREMAP_DONTUNMAP) &&
	    is_user_range(arg[0], new_size) &&
	    is_free(process, arg[0] + old_size, new_size - old_size)) {
		struct region copy = *like;
		int rc = extend(process, &copy, arg[0] + old_size,
				arg[0] + old_size, new_size - old_size);

		return rc ? rc : (int64_t)arg[0];
	}
	if (!(arg[3] & MREMAP_MAYMOVE))
		return -ENOMEM;
	to = place(process, &request);
	return to < 0 ? to :
			move_mapping(process, like, arg, old_size, new_size,
				     (guest_addr)to);
}

/* ------- advice, locks ------- */

/* Drops private pages; what is shared stays, as it does in the kernel. */
static int discard(struct linux_process *process, guest_addr addr,
		   uint64_t size)
{
	guest_addr end = addr + size;

	while (addr < end) {
		const struct region *region =
			memory_region_at(process->memory, addr);
		guest_addr stop;

		if (!region)
			return -ENOMEM;
		stop = region->end < end ? region->end : end;
		if (region->kind != REGION_SHARED &&
		    strcmp(region->name, SHARED_NAME) != 0)
			memory_clear(process->memory, addr, stop - addr);
		addr = stop;
	}
	return 0;
}

int64_t sys_madvise(struct linux_process *process,
		    const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);

	(void)row;
	if (arg[0] % GUEST_PAGE || (arg[1] && !size) ||
	    !is_user_range(arg[0], size))
		return -EINVAL;
	switch ((int)arg[2]) {
	case MADV_DONTNEED:
	case 24:	/* MADV_DONTNEED_LOCKED */
		return discard(process, arg[0], size);
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_FREE:		/* may be done as late as never */
	case MADV_DONTFORK:
	case MADV_DOFORK:
	case MADV_MERGEABLE:
	case MADV_UNMERGEABLE:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_WIPEONFORK:
	case MADV_KEEPONFORK:
	case MADV_COLD:
	case MADV_PAGEOUT:
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
		return is_mapped(process, arg[0], size) ? 0 : -ENOMEM;
	default:
		return -EINVAL;
	}
}

int64_t sys_msync(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	uint64_t size = page_up(arg[1]);
	uint64_t known = MS_ASYNC | MS_INVALIDATE | MS_SYNC;

	(void)row;
	if (arg[0] % GUEST_PAGE || arg[2] & ~known ||
	    (arg[2] & MS_ASYNC && arg[2] & MS_SYNC))
		return -EINVAL;
	/* Shared files are mapped by the host too, which writes them back. */
	return is_mapped(process, arg[0], size) ? 0 : -ENOMEM;
}

int64_t sys_mincore(struct linux_process *process,
		    const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t pages = page_up(arg[1]) / GUEST_PAGE;
	uint8_t there[BOUNCE];

	(void)row;
	if (arg[0] % GUEST_PAGE)
		return -EINVAL;
	if (!is_user_range(arg[0], arg[1]) ||
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

int64_t sys_mlock(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	guest_addr start = page_down(arg[0]);
	uint64_t size = page_up(arg[1] + (arg[0] - start));

	(void)row;
	if (!is_user_range(start, size))
		return -EINVAL;
	return is_mapped(process, start, size) ? 0 : -ENOMEM;
}
