/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eof_tail.c - mapped pages that lie beyond the end of their file */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/*
 * A page of a mapped file that begins after the file's end exists, but to
 * touch it is SIGBUS, until the file has grown.  Such pages are mapped
 * without permission and remembered here.
 */
struct eof_tail {
	guest_addr start, end;
	unsigned prot;
	uint64_t offset;	/* in the file, of `start` */
	dev_t dev;
	ino_t ino;
};

/* Adds one; what cannot be added is memory without permission. */
static bool add(struct linux_process *process, const struct eof_tail *tail)
{
	struct space *space = process->space;
	struct eof_tail *tails = realloc(
		space->tails, (space->tail_count + 1) * sizeof(*tails));

	if (!tails)
		return false;
	space->tails = tails;
	tails[space->tail_count++] = *tail;
	return true;
}

/* A part of one that is within it. */
static struct eof_tail part_of(const struct eof_tail *tail, guest_addr start,
			       guest_addr end)
{
	struct eof_tail part = *tail;

	part.start = start;
	part.end = end;
	part.offset += start - tail->start;
	return part;
}

/* Makes an address a border between them. */
static void split(struct linux_process *process, guest_addr addr)
{
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i], rest;

		if (addr <= tail->start || tail->end <= addr)
			continue;
		rest = part_of(tail, addr, tail->end);
		tail->end = addr;
		add(process, &rest);
		return;
	}
}

static bool is_within(const struct eof_tail *tail, guest_addr addr,
		      uint64_t size)
{
	return addr <= tail->start && tail->end <= addr + size;
}

void eof_tail_forget(struct linux_process *process, guest_addr addr,
		     uint64_t size)
{
	size_t kept = 0;

	mappings_lose_marks(process, addr, size);
	split(process, addr);
	split(process, addr + size);
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (!is_within(tail, addr, size))
			process->space->tails[kept++] = *tail;
	}
	process->space->tail_count = kept;
}

void eof_tail_move(struct linux_process *process, guest_addr from,
		   guest_addr to, uint64_t size)
{
	split(process, from);
	split(process, from + size);
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (!is_within(tail, from, size))
			continue;
		tail->start += to - from;
		tail->end += to - from;
	}
}

void eof_tail_copy(struct linux_process *process, guest_addr from,
		   guest_addr to, uint64_t size, unsigned prot)
{
	size_t count = process->space->tail_count;

	for (size_t i = 0; i < count; i++) {
		const struct eof_tail *tail = &process->space->tails[i];
		guest_addr start = tail->start > from ? tail->start : from;
		guest_addr end = tail->end < from + size ? tail->end :
							   from + size;
		struct eof_tail copy;

		if (start >= end)
			continue;
		copy = part_of(tail, start, end);
		copy.start += to - from;
		copy.end += to - from;
		copy.prot = prot;
		if (add(process, &copy))
			memory_protect(process->memory, copy.start,
				       copy.end - copy.start, 0);
	}
}

void eof_tail_release(struct linux_process *process)
{
	free(process->space->tails);
	process->space->tails = NULL;
	process->space->tail_count = 0;
}

/* How much of a region the file fills; at most all of it. */
static uint64_t filled(const struct region *region, const struct stat *file)
{
	uint64_t file_pages = page_up((uint64_t)file->st_size);
	uint64_t size = region->end - region->start;
	uint64_t there = file_pages > region->offset ?
				 file_pages - region->offset :
				 0;

	return S_ISREG(file->st_mode) && there < size ? there : size;
}

void eof_tail_cut(struct linux_process *process, const struct region *region,
		  const struct stat *file)
{
	guest_addr start = region->start + filled(region, file);

	if (start == region->end)
		return;
	/*
	 * Linux drops these pages, a private mapping's own copies among them.
	 */
	memory_clear(process->memory, start, region->end - start);
	eof_tail_note(process, region, file);
}

void eof_tail_note(struct linux_process *process, const struct region *region,
		   const struct stat *file)
{
	uint64_t there = filled(region, file);
	const struct eof_tail tail = {
		.start = region->start + there,
		.end = region->end,
		.prot = region->prot,
		.offset = region->offset + there,
		.dev = file->st_dev,
		.ino = file->st_ino,
	};

	if (tail.start < tail.end && add(process, &tail))
		memory_protect(process->memory, tail.start,
			       tail.end - tail.start, 0);
}

/* The part that holds `addr`, or NULL. */
static struct eof_tail *find(struct linux_process *process, guest_addr addr)
{
	for (size_t i = 0; i < process->space->tail_count; i++)
		if (process->space->tails[i].start <= addr &&
		    addr < process->space->tails[i].end)
			return &process->space->tails[i];
	return NULL;
}

bool eof_tail_has(struct linux_process *process, guest_addr addr)
{
	return find(process, addr) != NULL;
}

unsigned eof_tail_prot(struct linux_process *process,
		       const struct region *region)
{
	const struct eof_tail *tail = find(process, region->start);

	return tail ? tail->prot : region->prot;
}

/* Gives access to what there is of it now; whether that is anything. */
static bool grow(struct linux_process *process, struct eof_tail *tail,
		 const struct stat *file)
{
	uint64_t there, size = tail->end - tail->start;

	if (page_up((uint64_t)file->st_size) <= tail->offset)
		return false;
	there = page_up((uint64_t)file->st_size) - tail->offset;
	if (there > size)
		there = size;
	memory_protect(process->memory, tail->start, there, tail->prot);
	tail->start += there;
	tail->offset += there;
	return true;
}

static void drop_empty(struct linux_process *process)
{
	struct space *space = process->space;
	size_t kept = 0;

	for (size_t i = 0; i < space->tail_count; i++)
		if (space->tails[i].start < space->tails[i].end)
			space->tails[kept++] = space->tails[i];
	space->tail_count = kept;
}

void eof_tail_grow(struct linux_process *process, const struct stat *file)
{
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (tail->dev == file->st_dev && tail->ino == file->st_ino)
			grow(process, tail, file);
	}
	drop_empty(process);
}

/* Looks whether its file has grown. */
static bool look(struct linux_process *process, struct eof_tail *tail)
{
	int fd = mapped_files_find(process, tail->dev, tail->ino, false);
	struct stat file;
	bool has_grown = fd >= 0 && !fstat(fd, &file) &&
			 grow(process, tail, &file);

	if (fd >= 0)
		close(fd);
	return has_grown;
}

bool eof_tail_look(struct linux_process *process, guest_addr addr,
		   uint64_t size)
{
	bool has_grown = false;

	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (tail->start < addr + size && addr < tail->end)
			has_grown |= look(process, tail);
	}
	drop_empty(process);
	return has_grown;
}

static unsigned need(enum vm_access access)
{
	if (access == ACCESS_FETCH)
		return MAY_EXEC;
	/* Linux gives a page to whoever may execute it, too. */
	return access == ACCESS_WRITE ? MAY_WRITE :
					MAY_READ | MAY_WRITE | MAY_EXEC;
}

int eof_tail_fault(struct linux_process *process, guest_addr addr,
		   enum vm_access access)
{
	struct eof_tail *tail = find(process, addr);

	if (!tail || !(tail->prot & need(access)))
		return 0;
	eof_tail_look(process, addr, 1);
	return find(process, addr) ? -1 : 1;
}

void eof_tail_protect(struct linux_process *process, guest_addr addr,
		      uint64_t size, unsigned prot)
{
	split(process, addr);
	split(process, addr + size);
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (!is_within(tail, addr, size))
			continue;
		tail->prot = prot;
		memory_protect(process->memory, tail->start,
			       tail->end - tail->start, 0);
	}
}
