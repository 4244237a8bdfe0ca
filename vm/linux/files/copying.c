/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copying.c - sendfile(2) and its kin: from file to file in the kernel */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Whether there is something that could be copied after what was. */
static bool has_more(struct linux_process *process, int fd,
		     enum guest_struct type, guest_addr offset)
{
	int64_t position;
	struct stat file;
	int waiting;

	if (fstat(fd, &file))
		return false;
	if (S_ISFIFO(file.st_mode))
		return !ioctl(fd, FIONREAD, &waiting) && waiting;
	if (!S_ISREG(file.st_mode))
		return true;
	if (!offset)
		position = lseek(fd, 0, SEEK_CUR);
	else if (struct_in(process, type, &position, offset))
		return false;
	return position < file.st_size;
}

/*
 * Heeds the limit of a file's size.  What the kernel copies in pieces is sent
 * SIGXFSZ also if there was room for some of them.
 */
static int64_t copy_within(struct linux_process *process,
			   const struct linux_call *row, const uint64_t *arg,
			   int to, uint64_t room)
{
	int from = to ? 0 : 1, count = to ? 4 : 3;
	int at = from + 1;	/* the offset */
	bool in_pieces = row->host != SYS_copy_file_range;
	bool waits = row->host == SYS_splice;
	uint64_t less[CALL_ARGS];
	int64_t result;

	if (room >= arg[count])
		return marshal_call(process, row, arg);
	if (!room) {
		if (in_pieces && !waits &&
		    !has_more(process, (int)arg[from], row->args[at].type,
			      arg[from + 1]))
			return 0;
		return limits_file_exceeded();
	}
	memcpy(less, arg, sizeof(less));
	less[count] = room;
	result = marshal_call(process, row, less);
	if (in_pieces && result == (int64_t)room &&
	    has_more(process, (int)arg[from], row->args[at].type,
		     arg[from + 1]))
		limits_file_exceeded();
	return result;
}

static int64_t copy_limited(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg,
			    int to)
{
	int fd = (int)arg[to];
	int64_t offset = -1;

	/* These calls append to no file. */
	if (limit_of(process, LIMIT_FILE) == UNLIMITED ||
	    fcntl(fd, F_GETFL) & O_APPEND ||
	    (to && arg[to + 1] &&
	     struct_in(process, row->args[to + 1].type, &offset,
		       arg[to + 1])))
		return marshal_call(process, row, arg);
	return copy_within(process, row, arg, to,
			   limits_file_room(process, fd, offset, false));
}

/*
 * What a program copies to its standard streams inside the kernel was never
 * in its memory, so a replay could not repeat it.  The programs that use
 * these calls know how to do without: they must, for many kinds of file.
 */
static int64_t copy_to(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg,
		       int to)
{
	uint64_t position = arg[to + 1];
	bool has_offset = to && position;
	struct stat file;
	int64_t result;

	if (stream_of(process, (int)arg[to]))
		return -EINVAL;
	/* A pipe may have to be waited for. */
	if (row->host != SYS_splice &&
	    !fstat((int)arg[to], &file) && S_ISREG(file.st_mode))
		memory_enter_files(process->memory);
	result = copy_limited(process, row, arg, to);
	memory_doubt_shared(process->memory);
	if (result <= 0)
		return result;
	/* An offset of its own has been moved on. */
	if (has_offset &&
	    struct_in(process, row->args[to + 1].type, &position, position))
		return result;
	mapped_files_wrote(process, (int)arg[to],
			   has_offset ? (int64_t)position - result : -1,
			   (uint64_t)result);
	return result;
}

int64_t sys_sendfile(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	return copy_to(process, row, arg, 0);
}

int64_t sys_splice(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	return copy_to(process, row, arg, 2);
}

int64_t sys_tee(struct linux_process *process, const struct linux_call *row,
		const uint64_t *arg)
{
	if (stream_of(process, (int)arg[1]))
		return -EINVAL;
	return marshal_call(process, row, arg);
}

int64_t sys_copy_file_range(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	return copy_to(process, row, arg, 2);
}
