/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made.c - opening, reading and writing files that are made for the guest */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"

/* Opened anew, to be written. */
static int open_contents(int fd)
{
	char link[LINK_ROOM];

	descriptor_link(fd, link);
	return open(link, O_WRONLY | O_TRUNC | O_CLOEXEC);
}

/*
 * Fills a file of text with what it has now; -ENOMEM, or -ESRCH: the other
 * process has ended.
 */
static int64_t fill(struct linux_process *process, int fd)
{
	const struct descriptor *made = descriptor_of(process, fd);
	char *text = NULL;
	size_t size = 0;
	/* For want of memory it may have been forgotten. */
	FILE *out = made->file ? open_memstream(&text, &size) : NULL;
	int to = open_contents(fd);
	bool good;

	if (out)
		made->file->print(process, made->tid, out);
	good = out && !fclose(out) && to >= 0 &&
	       write(to, text, size) == (ssize_t)size;
	if (to >= 0)
		close(to);
	free(text);
	if (good && !size && made->file->is_relatives)
		return -ESRCH;
	return good ? 0 : -ENOMEM;
}

/* ------- opening ------- */

/*
 * An empty file without a name, opened as the guest wants it.  It gets the
 * number that the memory has meanwhile: that is the lowest which was free.
 */
static int open_empty(const char *name, int flags)
{
	int memory = memfd_create(name, MFD_CLOEXEC);
	char link[LINK_ROOM];
	int fd, rc;

	if (memory < 0)
		return -errno;
	descriptor_link(memory, link);
	fd = open(link, flags & (O_ACCMODE | O_CLOEXEC));
	if (fd >= 0 && dup3(fd, memory, flags & O_CLOEXEC) == memory) {
		close(fd);
		return memory;
	}
	rc = -errno;
	if (fd >= 0)
		close(fd);
	close(memory);
	return rc;
}

/* As on the host, but most without a way to write to them. */
static int64_t open_made(struct linux_process *process,
			 const struct proc_file *file, uint32_t tid, int flags)
{
	const struct descriptor made = { .file = file, .tid = tid };
	int64_t rc;
	int fd;

	if ((flags & O_ACCMODE) != O_RDONLY && !file->is_writable)
		return -EACCES;
	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	fd = open_empty(file->name, flags);
	if (fd < 0)
		return fd;
	descriptor_set(process, fd, &made);
	rc = file->print ? fill(process, fd) : 0;
	if (!rc)
		return fd;
	descriptor_closed(process, fd);
	close(fd);
	return rc;
}

int64_t made_open(struct linux_process *process, int dir, const char *path,
		  int flags)
{
	const struct proc_file *file;
	uint32_t tid;
	int rc = proc_find(process, dir, path, &file, &tid);

	return rc ? rc : open_made(process, file, tid, flags);
}

static int open_relatives(const struct descriptor *made)
{
	char path[LINK_ROOM];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", made->tid,
		 made->file->name);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int made_open_host(struct linux_process *process, int fd)
{
	const struct descriptor *made = descriptor_of(process, fd);
	int host;

	if (made->file->is_relatives)
		return open_relatives(made);
	if (!made->file->path)
		return host_proc_open(made->tid, made->file->name);
	host = open(made->file->path, O_PATH | O_CLOEXEC);
	return host < 0 ? -errno : host;
}

/* ------- reading and writing ------- */

static bool may(const struct made_transfer *transfer)
{
	int mode = fcntl(transfer->fd, F_GETFL) & O_ACCMODE;

	return mode == O_RDWR ||
	       mode == (transfer->use == MEMORY_IN ? O_WRONLY : O_RDONLY);
}

int64_t made_transfer(struct linux_process *process,
		      const struct made_transfer *transfer, guest_addr addr,
		      uint64_t size)
{
	const struct descriptor *made = descriptor_of(process, transfer->fd);
	int64_t at = transfer->has_offset ? transfer->offset
					  : lseek(transfer->fd, 0, SEEK_CUR);
	int64_t result;

	if (!made->file || !may(transfer) || at < 0)
		return -ENOSYS;
	if (made->file->print) {
		if (!at && transfer->use == MEMORY_OUT &&
		    fill(process, transfer->fd) == -ESRCH)
			return -ESRCH;
		return -ENOSYS;
	}
	result = made->file->move(process, (uint64_t)at, addr, size,
				  transfer->use);
	if (result > 0 && !transfer->has_offset)
		lseek(transfer->fd, at + result, SEEK_SET);
	return result;
}

int64_t made_transfer_vector(struct linux_process *process,
			     const struct made_transfer *transfer,
			     guest_addr vector, uint64_t count)
{
	struct made_transfer part = *transfer;
	int64_t done = 0, result = 0;

	if (!descriptor_of(process, transfer->fd)->file || count > SPANS)
		return -ENOSYS;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t iov[2]; /* struct iovec: address, length */

		if (struct_in(process, S_IOVEC, iov,
			      vector + i * struct_size(process, S_IOVEC)))
			result = -EFAULT;
		else
			result = made_transfer(process, &part, iov[0], iov[1]);
		if (result < 0)
			break;
		done += result;
		part.offset += result;
		if ((uint64_t)result < iov[1])
			break;
	}
	return done ? done : result;
}
