/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_transfer.c - reading and writing what proc_open() has made */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"

/* Opened anew, to be written. */
static int open_contents(int fd)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_WRONLY | O_TRUNC | O_CLOEXEC);
}

int64_t proc_fill(struct linux_process *process, int fd)
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
	return good ? 0 : -ENOMEM;
}

static bool may(const struct proc_transfer *transfer)
{
	int mode = fcntl(transfer->fd, F_GETFL) & O_ACCMODE;

	return mode == O_RDWR ||
	       mode == (transfer->use == MEMORY_IN ? O_WRONLY : O_RDONLY);
}

int64_t proc_transfer(struct linux_process *process,
		      const struct proc_transfer *transfer, guest_addr addr,
		      uint64_t size)
{
	const struct descriptor *made = descriptor_of(process, transfer->fd);
	int64_t at = transfer->has_offset ? transfer->offset
					  : lseek(transfer->fd, 0, SEEK_CUR);
	int64_t result;

	if (!made->file || !may(transfer) || at < 0)
		return -ENOSYS;
	if (made->file->print) {
		if (!at && transfer->use == MEMORY_OUT)
			proc_fill(process, transfer->fd);
		return -ENOSYS;
	}
	result = made->file->move(process, (uint64_t)at, addr, size,
				  transfer->use);
	if (result > 0 && !transfer->has_offset)
		lseek(transfer->fd, at + result, SEEK_SET);
	return result;
}

int64_t proc_transfer_vector(struct linux_process *process,
			     const struct proc_transfer *transfer,
			     guest_addr vector, uint64_t count)
{
	struct proc_transfer part = *transfer;
	int64_t done = 0, result = 0;

	if (!descriptor_of(process, transfer->fd)->file || count > SPANS)
		return -ENOSYS;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t iov[2]; /* struct iovec: address, length */

		if (copy_in(process, iov, vector + i * sizeof(iov),
			    sizeof(iov)))
			result = -EFAULT;
		else
			result = proc_transfer(process, &part, iov[0], iov[1]);
		if (result < 0)
			break;
		done += result;
		part.offset += result;
		if ((uint64_t)result < iov[1])
			break;
	}
	return done ? done : result;
}
