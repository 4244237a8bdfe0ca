/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped_files.c - what writing to a file changes in its mappings */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/*
 * A file that is mapped changes in memory when it is written to, and whoever
 * observes the memory must learn of it.  This is the program's own writing;
 * what other processes write to a shared mapping nobody announces.
 */
struct mapped_file {
	dev_t dev;
	ino_t ino;
	char *name;		/* of its regions */
};

void mapped_files_release(struct linux_process *process)
{
	for (size_t i = 0; i < process->space->file_count; i++)
		free(process->space->files[i].name);
	free(process->space->files);
	process->space->files = NULL;
	process->space->file_count = 0;
}

int mapped_files_note(struct linux_process *process, const char *name,
		      const struct stat *file)
{
	struct mapped_file *files;

	for (size_t i = 0; i < process->space->file_count; i++) {
		files = &process->space->files[i];
		if (files->dev == file->st_dev && files->ino == file->st_ino &&
		    !strcmp(files->name, name))
			return 0;
	}
	files = realloc(process->space->files,
			(process->space->file_count + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	process->space->files = files;
	files += process->space->file_count;
	files->dev = file->st_dev;
	files->ino = file->st_ino;
	files->name = strdup(name);
	if (!files->name)
		return -ENOMEM;
	process->space->file_count++;
	return 0;
}

static bool is_same(const struct mapped_file *file, int fd)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == file->dev &&
	       now.st_ino == file->ino;
}

struct search {
	const struct mapped_file *file;
	bool to_write;
	int found;
};

static void look_at(void *context, int fd)
{
	struct search *search = context;
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

	if (search->found < 0 && is_same(search->file, fd) &&
	    mode != O_WRONLY && (!search->to_write || mode == O_RDWR))
		search->found = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* A copy of a descriptor of the guest's that is the file. */
static int find_descriptor(const struct mapped_file *file, bool to_write)
{
	struct search search = { file, to_write, -1 };

	each_descriptor(look_at, &search);
	return search.found;
}

int mapped_files_find(struct linux_process *process, dev_t dev, ino_t ino,
		      bool to_write)
{
	for (size_t i = 0; i < process->space->file_count; i++) {
		const struct mapped_file *file = &process->space->files[i];
		int fd;

		if (file->dev != dev || file->ino != ino)
			continue;
		fd = open(file->name,
			  (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
		if (fd >= 0 && is_same(file, fd))
			return fd;
		if (fd >= 0)
			close(fd);
		/* It was deleted, or never had a name. */
		fd = find_descriptor(file, to_write);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int mapped_files_open(struct linux_process *process,
		      const struct region *region, guest_addr addr)
{
	uint64_t dev, ino;

	if (!memory_file_at(process->memory, addr, &dev, &ino))
		return -ENOENT;
	return mapped_files_find(process, dev, ino,
				 region->kind == REGION_SHARED &&
					 region->prot & MAY_WRITE);
}

/* The part of a region that has these bytes of the file. */
static bool overlap(const struct region *region, uint64_t offset,
		    uint64_t size, guest_addr *start, guest_addr *end)
{
	uint64_t length = region->end - region->start;
	uint64_t from = offset > region->offset ? offset - region->offset : 0;
	uint64_t to;

	if (offset + size <= region->offset || from >= length)
		return false;
	to = offset + size - region->offset;
	*start = region->start + from;
	*end = region->start + (to < length ? to : length);
	return true;
}

static bool is_of(struct linux_process *process, const struct region *region,
		  const struct stat *file)
{
	uint64_t dev, ino;

	return region->kind != REGION_ANON &&
	       memory_file_at(process->memory, region->start, &dev, &ino) &&
	       dev == file->st_dev && ino == file->st_ino;
}

static void each_region(struct linux_process *process, const struct stat *file,
			uint64_t offset, uint64_t size, bool resized)
{
	guest_addr at = 0, start, end;
	size_t count;

	/* Look for the next each time: the array may change. */
	for (;;) {
		const struct region *regions =
			memory_regions(process->memory, &count);
		struct region region = { 0 };

		for (size_t i = 0; i < count && !region.end; i++)
			if (regions[i].start >= at &&
			    is_of(process, &regions[i], file))
				region = regions[i];
		if (!region.end)
			return;
		at = region.end;
		/* What may not be touched is told when it may. */
		if (!region.prot ||
		    !overlap(&region, offset, size, &start, &end))
			continue;
		if (resized)
			eof_tail_cut(process, &region, file);
		else
			guest_wrote(process, start, end - start);
	}
}

static void changed(struct linux_process *process, int fd, uint64_t offset,
		    uint64_t size, bool resized)
{
	struct stat file;

	if (!process->space->file_count || fstat(fd, &file) ||
	    !S_ISREG(file.st_mode))
		return;
	eof_tail_grow(process, &file);
	for (size_t i = 0; i < process->space->file_count; i++)
		if (process->space->files[i].dev == file.st_dev &&
		    process->space->files[i].ino == file.st_ino) {
			each_region(process, &file, offset, size, resized);
			return;
		}
}

void mapped_files_wrote(struct linux_process *process, int fd, int64_t offset,
			uint64_t size)
{
	struct stat file;

	if (offset < 0) {
		/* lseek() costs more than fstat(). */
		if (fstat(fd, &file) || !S_ISREG(file.st_mode))
			return;
		offset = lseek(fd, 0, SEEK_CUR) - (int64_t)size;
	}
	if (offset >= 0)
		changed(process, fd, (uint64_t)offset, size, false);
}

void mapped_files_resized(struct linux_process *process, int fd)
{
	changed(process, fd, 0, INT64_MAX, true);
}
