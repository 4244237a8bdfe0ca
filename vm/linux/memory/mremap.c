/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mremap.c - mappings that move, grow and shrink */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* The protection that the guest knows; see eof_tail.c. */
static unsigned prot_of(struct linux_process *process,
			const struct region *region, guest_addr addr)
{
	struct region at = *region;

	at.start = addr;
	return eof_tail_prot(process, &at);
}

/*
 * Maps at `addr` what comes, or would come, at `from` in `like`; its file is
 * mapped at `known`.
 */
static int map_part(struct linux_process *process, const struct region *like,
		    guest_addr from, guest_addr addr, uint64_t size,
		    guest_addr known)
{
	struct region region = *like;
	struct stat file;
	int fd = -1;
	int rc;

	region.start = addr;
	region.end = addr + size;
	if (region.kind != REGION_ANON) {
		region.offset += from - like->start;
		region.common = 0;
		fd = mapped_files_open(process, &region, known);
		if (fd < 0)
			return -ENOMEM;
	}
	eof_tail_forget(process, addr, size);
	rc = memory_map(process->memory, &region, fd, NULL);
	if (!rc && fd >= 0 && !fstat(fd, &file))
		eof_tail_note(process, &region, &file);
	if (fd >= 0)
		close(fd);
	return rc ? -ENOMEM : 0;
}

/* How much at `addr`, in one mapping, is of the file that is at `known`. */
static uint64_t same_file(struct linux_process *process,
			  const struct region *like, guest_addr addr,
			  guest_addr known)
{
	const struct region *region = memory_region_at(process->memory, addr);
	uint64_t dev, ino, known_dev, known_ino;

	if (addr == known)
		return region->end - addr;
	if (!region || region->kind != like->kind ||
	    region->offset - region->start != like->offset - like->start ||
	    !memory_file_at(process->memory, addr, &dev, &ino) ||
	    !memory_file_at(process->memory, known, &known_dev, &known_ino) ||
	    dev != known_dev || ino != known_ino)
		return 0;
	return region->end - addr;
}

/* Maps what is shared at `from` once more, and perhaps what is behind it. */
static int map_twins(struct linux_process *process, const struct region *like,
		     guest_addr from, guest_addr to, uint64_t size)
{
	for (uint64_t done = 0, part; done < size; done += part) {
		struct region region = *like;

		part = same_file(process, like, from + done, from);
		if (!part)
			return map_part(process, like, from + done, to + done,
					size - done, from);
		if (part > size - done)
			part = size - done;
		region.start = to + done;
		region.end = region.start + part;
		region.offset += from + done - like->start;
		region.common = 0;
		eof_tail_forget(process, region.start, part);
		if (memory_map_again(process->memory, &region, from + done))
			return -ENOMEM;
		eof_tail_copy(process, from + done, region.start, part,
			      region.prot);
	}
	return 0;
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

/* What stays where a mapping was: its file, or else zeros. */
static int leave_behind(struct linux_process *process,
			const struct region *like, guest_addr addr,
			guest_addr moved_to, uint64_t size)
{
	struct region zeros = *like, moved = *like;

	moved.start += moved_to - addr;
	moved.end = moved_to + size;
	if (like->kind == REGION_SHARED)
		return map_twins(process, &moved, moved_to, addr, size);
	if (like->kind == REGION_FILE &&
	    !map_part(process, like, addr, addr, size, moved_to))
		return 0;
	zeros.start = addr;
	zeros.end = addr + size;
	zeros.kind = REGION_ANON;
	zeros.offset = 0;
	return memory_map(process->memory, &zeros, -1, NULL) ? -ENOMEM : 0;
}

/* `like` is a copy: the move changes the array. */
static int64_t move_mapping(struct linux_process *process,
			    const struct region *like, const uint64_t *arg,
			    uint64_t old_size, uint64_t new_size, guest_addr to)
{
	uint64_t moved = old_size < new_size ? old_size : new_size;
	int rc = 0;

	eof_tail_forget(process, arg[0] + moved, old_size - moved);
	eof_tail_forget(process, to, new_size);
	if (arg[3] & MREMAP_FIXED &&
	    memory_unmap(process->memory, to, new_size))
		return -ENOMEM;
	if (memory_move(process->memory, arg[0], to, moved))
		return -ENOMEM;
	eof_tail_move(process, arg[0], to, moved);
	mappings_lose_marks(process, arg[0], moved);
	if (old_size > moved)
		memory_unmap(process->memory, arg[0] + moved,
			     old_size - moved);
	if (new_size > moved)
		rc = map_part(process, like, arg[0] + old_size, to + moved,
			      new_size - moved, to);
	if (!rc && arg[3] & MREMAP_DONTUNMAP)
		rc = leave_behind(process, like, arg[0], to, old_size);
	return rc ? rc : (int64_t)to;
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
	return map_twins(process, like, arg[0], (guest_addr)to, size) ?
		       -ENOMEM : to;
}

static int64_t remap(struct linux_process *process, const uint64_t *arg)
{
	uint64_t old_size = page_up(arg[1]), new_size = page_up(arg[2]);
	const struct region *found;
	struct region copy;
	const struct region *like = &copy;
	int64_t to = check_mremap(process, arg, old_size, new_size);

	if (to < 0)
		return to;
	found = memory_region_at(process->memory, arg[0]);
	if (!found || !is_mapped(process, arg[0], old_size))
		return -EFAULT;
	copy = *found;
	copy.prot = prot_of(process, found, arg[0]);
	if (!old_size)
		return map_again(process, like, arg, new_size);
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
		int rc = map_part(process, like, arg[0] + old_size,
				  arg[0] + old_size, new_size - old_size,
				  arg[0]);

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
