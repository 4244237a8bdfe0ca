/* SPDX-License-Identifier: GPL-2.0-or-later */
/* descriptors.c - what is known of descriptors, and how they come and go */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"

const struct descriptor *descriptor_of(const struct linux_process *process,
				       int fd)
{
	static const struct descriptor nothing;

	if (fd < 0 || (size_t)fd >= process->files->count)
		return &nothing;
	return &process->files->descriptors[fd];
}

void descriptor_set(struct linux_process *process, int fd,
		    const struct descriptor *what)
{
	size_t count = process->files->count, needed = (size_t)fd + 1;
	bool is_nothing = !what->file && !what->stream && !what->waiting;
	bool was_stream;

	if (fd < 0 || (needed > count && is_nothing))
		return;
	if (needed > count) {
		struct descriptor *grown =
			realloc(process->files->descriptors,
				needed * sizeof(*grown));

		if (!grown)
			return;
		memset(grown + count, 0, (needed - count) * sizeof(*grown));
		process->files->descriptors = grown;
		process->files->count = needed;
	}
	was_stream = process->files->descriptors[fd].stream;
	process->files->descriptors[fd] = *what;
	if (was_stream)
		descriptors_review_stderr(process);
}

void descriptor_copied(struct linux_process *process, int fd, int from)
{
	const struct descriptor what = *descriptor_of(process, from);

	descriptor_set(process, fd, &what);
}

void descriptor_closed(struct linux_process *process, int fd)
{
	descriptor_copied(process, fd, -1);
}

static enum waiting find_waiting(int fd)
{
	enum { MEMORY_DEVICES = 1 };	/* /dev/zero and the like */
	struct stat file;

	if (fstat(fd, &file))
		return WAITING_UNKNOWN;
	return S_ISREG(file.st_mode) || S_ISBLK(file.st_mode) ||
			       (S_ISCHR(file.st_mode) &&
				major(file.st_rdev) == MEMORY_DEVICES) ?
		       WAITS_NEVER :
		       WAITS_PERHAPS;
}

bool read_waits(struct linux_process *process, int fd)
{
	struct descriptor what = *descriptor_of(process, fd);

	if (!what.waiting) {
		what.waiting = find_waiting(fd);
		descriptor_set(process, fd, &what);
	}
	return what.waiting == WAITS_PERHAPS &&
	       !spans_ready(process, fd, MEMORY_OUT) &&
	       !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

void descriptors_age(struct linux_process *process)
{
	for (size_t i = 0; i < process->files->count; i++)
		process->files->descriptors[i].file = NULL;
}

static bool has_stderr(const struct linux_process *process)
{
	for (size_t i = 0; i < process->files->count; i++)
		if (process->files->descriptors[i].stream == STDERR_FILENO)
			return true;
	return false;
}

void descriptors_review_stderr(const struct linux_process *process)
{
	own_stderr_review(has_stderr(process));
}

static void hide_if_own(void *context, int fd)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags >= 0 && !(flags & FD_CLOEXEC))
		limits_made(context, false, fd);
	else if (flags >= 0)
		hide_here(fd);
}

void hide_own_descriptors(struct linux_process *process)
{
	each_descriptor(hide_if_own, process);
}

static void close_if_asked(void *context, int fd)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0 || !(flags & FD_CLOEXEC))
		return;
	close(fd);
	descriptor_closed(context, fd);
}

void close_on_exec(struct linux_process *process)
{
	each_descriptor(close_if_asked, process);
}

int descriptors_init(struct linux_process *process)
{
	process->files->count = 8;
	process->files->descriptors = calloc(process->files->count,
				      sizeof(*process->files->descriptors));
	if (!process->files->descriptors)
		return ERR_NO_MEMORY;
	for (int fd = 1; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			process->files->descriptors[fd].stream = (uint8_t)fd;
	return 0;
}

void descriptors_release(struct linux_process *process)
{
	free(process->files->descriptors);
}

int64_t sys_close(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	int64_t result = marshal_call(process, row, arg);

	/* Whatever else close() says, the descriptor is gone. */
	if (result != -EBADF && result != -RESTART_ALWAYS)
		descriptor_closed(process, (int)arg[0]);
	return result;
}

int64_t sys_close_range(struct linux_process *process,
			const struct linux_call *row, const uint64_t *arg)
{
	unsigned first = (unsigned)arg[0], last = (unsigned)arg[1];
	uint64_t flags = arg[2] & UINT32_MAX;

	(void)row;
	if (first > last || flags & ~(uint64_t)(CLOSE_RANGE_CLOEXEC |
						CLOSE_RANGE_UNSHARE))
		return -EINVAL;
	while (first <= last) {
		int keep = next_hidden(first);
		unsigned end = keep >= 0 && (unsigned)keep <= last ?
				       (unsigned)keep :
				       last + 1;
		int64_t result = 0;

		if (end != first)
			result = host_call(process, SYS_close_range, first,
					   end - 1, flags);
		if (result < 0)
			return result;
		for (unsigned fd = first;
		     fd != end && fd < process->files->count; fd++)
			if (!(flags & CLOSE_RANGE_CLOEXEC))
				descriptor_closed(process, (int)fd);
		first = end + 1;
		if (!end || !first)	/* `last` was the last number */
			break;
	}
	return 0;
}

/* ------- copies, and other new ones ------- */

/* A call whose result is a descriptor. */
int64_t sys_make(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	bool narrowed = limits_make(process, 1);
	int64_t result = marshal_call(process, row, arg);

	limits_made(process, narrowed, result);
	return result;
}

/* A call that gives two in an array. */
static int64_t make_pair(struct linux_process *process,
			 const struct linux_call *row, const uint64_t *arg,
			 guest_addr array)
{
	bool narrowed = limits_make(process, 2);
	int64_t result = marshal_call(process, row, arg);
	int pair[2] = { -1, -1 };

	if (result >= 0 && copy_in(process, pair, array, sizeof(pair)))
		result = -EFAULT;
	limits_made(process, narrowed, pair[0]);
	limits_made(process, false, pair[1]);
	return result;
}

int64_t sys_pipe(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	return make_pair(process, row, arg, arg[0]);
}

int64_t sys_socketpair(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	return make_pair(process, row, arg, arg[3]);
}

int64_t sys_dup(struct linux_process *process, const struct linux_call *row,
		const uint64_t *arg)
{
	int64_t result = sys_make(process, row, arg);

	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

int64_t sys_dup2(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	bool narrowed = limits_make_at(process, (uint32_t)arg[1]);
	int64_t result = marshal_call(process, row, arg);

	limits_made(process, narrowed, result);
	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

int64_t sys_dup3(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	return sys_dup2(process, row, arg);
}
