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

void eof_tail_forget(struct linux_process *process, guest_addr addr,
		     uint64_t size)
{
	size_t kept = 0;

	mappings_lose_marks(process, addr, size);
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (tail->start >= addr + size || addr >= tail->end)
			process->space->tails[kept++] = *tail;
	}
	process->space->tail_count = kept;
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
	uint64_t size = region->end - region->start;
	uint64_t there = filled(region, file);
	struct eof_tail *tails;

	if (there == size)
		return;
	tails = realloc(process->space->tails,
			(process->space->tail_count + 1) * sizeof(*tails));
	if (!tails)
		return;
	process->space->tails = tails;
	tails[process->space->tail_count++] = (struct eof_tail){
		.start = region->start + there,
		.end = region->end,
		.prot = region->prot,
		.offset = region->offset + there,
		.dev = file->st_dev,
		.ino = file->st_ino,
	};
	memory_protect(process->memory, region->start + there, size - there,
		       0);
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

int eof_tail_fault(struct linux_process *process, guest_addr addr)
{
	struct eof_tail *tail = find(process, addr);
	struct stat file;
	uint64_t there;
	int fd, rc;

	if (!tail)
		return 0;
	fd = mapped_files_find(process, tail->dev, tail->ino, false);
	rc = fd < 0 ? -1 : fstat(fd, &file);
	if (fd >= 0)
		close(fd);
	if (rc || page_up((uint64_t)file.st_size) <= tail->offset)
		return -1;
	there = page_up((uint64_t)file.st_size) - tail->offset;
	if (there > tail->end - tail->start)
		there = tail->end - tail->start;
	if (addr - tail->start >= there)
		return -1;
	memory_protect(process->memory, tail->start, there, tail->prot);
	tail->start += there;
	tail->offset += there;
	return 1;
}

void eof_tail_protect(struct linux_process *process, guest_addr addr,
		      uint64_t size, unsigned prot)
{
	for (size_t i = 0; i < process->space->tail_count; i++) {
		struct eof_tail *tail = &process->space->tails[i];

		if (tail->start >= addr + size || addr >= tail->end)
			continue;
		tail->prot = prot;
		memory_protect(process->memory, tail->start,
			       tail->end - tail->start, 0);
	}
}
