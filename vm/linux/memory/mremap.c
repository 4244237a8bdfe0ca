/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mremap.c - mappings that move, grow and shrink */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

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
		region.common = 0;
		fd = mapped_files_open(process, &region, addr - GUEST_PAGE);
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

/*
 * Whether so much more may be mapped like `like`, once what is at `to` is not.
 */
static bool may_grow(struct linux_process *process, const struct region *like,
		     uint64_t more, guest_addr to, uint64_t size)
{
	struct region region = *like;

	region.end = region.start + more;
	return !more || limits_allow_after(process, &region, to, size);
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
		copy.common = 0;
		if (memory_map(process->memory, &copy, -1, NULL))
			return -ENOMEM;
	}
	return (int64_t)to;
}

static int check_mremap(const struct linux_process *process,
			const uint64_t *arg, uint64_t old_size,
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
	if (arg[0] % GUEST_PAGE || !new_size)
		return -EINVAL;
	if (flags & MREMAP_FIXED &&
	    (arg[4] % GUEST_PAGE || !is_user_range(process, arg[4], new_size) ||
	     (arg[0] < arg[4] + new_size && arg[4] < arg[0] + old_size)))
		return -EINVAL;
	if (!is_user_range(process, arg[0], old_size) ||
	    new_size > process->abi->user_end)
		return -EFAULT;
	return 0;
}

/* As much as the call adds to what is mapped. */
static uint64_t growth(const uint64_t *arg, uint64_t old_size,
		       uint64_t new_size)
{
	if (arg[3] & MREMAP_DONTUNMAP)
		return old_size;
	return new_size > old_size ? new_size - old_size : 0;
}

/* What is shared "grows" from nothing: its pages are mapped once more. */
static int64_t map_again(struct linux_process *process,
			 const struct region *like, const uint64_t *arg,
			 uint64_t size)
{
	struct region region = *like;
	int64_t to = (int64_t)arg[4];

	if (like->kind != REGION_SHARED || arg[3] & MREMAP_DONTUNMAP)
		return -EINVAL;
	if (!(arg[3] & MREMAP_MAYMOVE))
		return -ENOMEM;
	if (!may_grow(process, like, size, (guest_addr)to,
		      arg[3] & MREMAP_FIXED ? size : 0))
		return -ENOMEM;
	if (!(arg[3] & MREMAP_FIXED))
		to = find_place(process, size);
	if (to < 0)
		return to;
	region.start = (guest_addr)to;
	region.end = region.start + size;
	region.offset += arg[0] - like->start;
	region.common = 0;
	eof_tail_forget(process, region.start, size);
	if (memory_map_again(process->memory, &region, arg[0]))
		return -ENOMEM;
	return to;
}

static int64_t remap(struct linux_process *process, const uint64_t *arg)
{
	uint64_t old_size = page_up(arg[1]), new_size = page_up(arg[2]);
	const struct region *like;
	int64_t to = check_mremap(process, arg, old_size, new_size);

	if (to < 0)
		return to;
	like = memory_region_at(process->memory, arg[0]);
	if (like && !old_size)
		return map_again(process, like, arg, new_size);
	if (!like || !is_mapped(process, arg[0], old_size))
		return -EFAULT;
	if (!may_grow(process, like, growth(arg, old_size, new_size), arg[4],
		      arg[3] & MREMAP_FIXED ? new_size : 0))
		return -ENOMEM;
	if (arg[3] & MREMAP_FIXED || new_size < old_size)
		peaks_before_less(process, old_size);
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
	    is_user_range(process, arg[0], new_size) &&
	    is_free(process, arg[0] + old_size, new_size - old_size)) {
		struct region copy = *like;
		int rc = extend(process, &copy, arg[0] + old_size,
				arg[0] + old_size, new_size - old_size);

		return rc ? rc : (int64_t)arg[0];
	}
	if (!(arg[3] & MREMAP_MAYMOVE))
		return -ENOMEM;
	to = find_place(process, new_size);
	return to < 0 ? to :
			move_mapping(process, like, arg, old_size, new_size,
				     (guest_addr)to);
}

/* Marks are of the whole mapping, wherever it is. */
int64_t sys_mremap(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	struct space *space = process->space;
	uint64_t old_size = page_up(arg[1]), new_size = page_up(arg[2]);
	bool locked = locks_have(process, arg[0], GUEST_PAGE);
	bool grows = marks_size(&space->growing, arg[0], arg[0] + GUEST_PAGE);
	int64_t to;

	(void)row;
	if (locked && new_size > old_size &&
	    locks_allow(process, new_size - old_size, true))
		return -EAGAIN;
	to = remap(process, arg);
	if (to < 0)
		return to;
	if (locked)
		marks_set(&space->locked, (guest_addr)to,
			  (guest_addr)to + new_size);
	if (grows)
		marks_set(&space->growing, (guest_addr)to,
			  (guest_addr)to + new_size);
	return to;
}
