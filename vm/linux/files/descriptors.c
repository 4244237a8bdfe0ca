/* SPDX-License-Identifier: GPL-2.0-or-later */
/* descriptors.c - which descriptors are cprec's own, and which its streams */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/handlers.h"
#include "vm/linux/process.h"

/* A program has no use for descriptors above this, so they start here. */
#define HIGH_DESCRIPTOR 4096

static int hidden[HIDDEN];
static int hidden_count;

/* Forgets those that were closed. */
static void tidy_hidden(void)
{
	int kept = 0;

	for (int i = 0; i < hidden_count; i++)
		if (fcntl(hidden[i], F_GETFD) >= 0)
			hidden[kept++] = hidden[i];
	hidden_count = kept;
}

static int first_hidden(void)
{
	struct rlimit limit = { 1024, 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= HIGH_DESCRIPTOR + HIDDEN)
		return HIGH_DESCRIPTOR;
	return limit.rlim_cur > 2 * HIDDEN ? (int)limit.rlim_cur - HIDDEN : 0;
}

static int hide_from(int fd, int least)
{
	int copy;

	tidy_hidden();
	if (hidden_count == HIDDEN)
		return ERR_SYSTEM;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (copy < 0)
		return ERR_SYSTEM;
	hidden[hidden_count++] = copy;
	return copy;
}

int linux_hide_descriptor(int fd)
{
	int moved = hide_from(fd, first_hidden());

	if (moved >= 0)
		close(fd);
	return moved;
}

int hide_copy(int fd)
{
	return hide_from(fd, first_hidden() + HIDDEN / 2);
}

void linux_close_hidden(int fd)
{
	close(fd);
	tidy_hidden();
}

bool is_hidden(int fd)
{
	for (int i = 0; i < hidden_count; i++)
		if (hidden[i] == fd)
			return true;
	return false;
}

const struct descriptor *descriptor_of(const struct linux_process *process,
				       int fd)
{
	static const struct descriptor nothing;

	if (fd < 0 || (size_t)fd >= process->descriptor_count)
		return &nothing;
	return &process->descriptors[fd];
}

void descriptor_set(struct linux_process *process, int fd,
		    const struct descriptor *what)
{
	size_t count = process->descriptor_count, needed = (size_t)fd + 1;
	bool is_nothing = !what->file && !what->stream, was_stream;

	if (fd < 0 || (needed > count && is_nothing))
		return;
	if (needed > count) {
		struct descriptor *grown =
			realloc(process->descriptors, needed * sizeof(*grown));

		if (!grown)
			return;
		memset(grown + count, 0, (needed - count) * sizeof(*grown));
		process->descriptors = grown;
		process->descriptor_count = needed;
	}
	was_stream = process->descriptors[fd].stream;
	process->descriptors[fd] = *what;
	if (was_stream)
		own_stderr_review(process);
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

void descriptors_age(struct linux_process *process)
{
	for (size_t i = 0; i < process->descriptor_count; i++)
		process->descriptors[i].file = NULL;
}

void hide_own_descriptors(struct linux_process *process)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		int fd = atoi(entry->d_name);
		int flags = fcntl(fd, F_GETFD);

		if (entry->d_name[0] == '.' || fd == dirfd(folder) ||
		    is_hidden(fd) || flags < 0)
			continue;
		if (!(flags & FD_CLOEXEC))
			limits_made(process, false, fd);
		else if (hidden_count < HIDDEN)
			hidden[hidden_count++] = fd;
	}
	closedir(folder);
}

void close_on_exec(struct linux_process *process)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);
		int flags = fcntl(fd, F_GETFD);

		if (entry->d_name[0] == '.' || fd == dirfd(folder) ||
		    is_hidden(fd) || flags < 0 || !(flags & FD_CLOEXEC))
			continue;
		close(fd);
		descriptor_closed(process, fd);
	}
	if (folder)
		closedir(folder);
}

int descriptors_init(struct linux_process *process)
{
	process->descriptor_count = 8;
	process->descriptors = calloc(process->descriptor_count,
				      sizeof(*process->descriptors));
	if (!process->descriptors)
		return ERR_NO_MEMORY;
	for (int fd = 1; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			process->descriptors[fd].stream = (uint8_t)fd;
	return 0;
}

int64_t sys_close(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	int64_t result = marshal_call(process, row, arg);

	/* Whatever else close() says, the descriptor is gone. */
	if (result != -EBADF && result != -RESTART_ALWAYS)
		descriptor_closed(process, (int)arg[0]);
	return result;
}

/* The lowest hidden descriptor at or above `fd`; -1 if there is none. */
static int next_hidden(unsigned fd)
{
	int next = -1;

	for (int i = 0; i < hidden_count; i++)
		if ((unsigned)hidden[i] >= fd &&
		    (next < 0 || hidden[i] < next))
			next = hidden[i];
	return next;
}

int64_t sys_close_range(struct linux_process *process,
			const struct syscall_row *row, const uint64_t *arg)
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
		     fd != end && fd < process->descriptor_count; fd++)
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
int64_t sys_make(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	bool narrowed = limits_make(process, 1);
	int64_t result = marshal_call(process, row, arg);

	limits_made(process, narrowed, result);
	return result;
}

/* A call that gives two in an array. */
static int64_t make_pair(struct linux_process *process,
			 const struct syscall_row *row, const uint64_t *arg,
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

int64_t sys_pipe(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	return make_pair(process, row, arg, arg[0]);
}

int64_t sys_socketpair(struct linux_process *process,
		       const struct syscall_row *row, const uint64_t *arg)
{
	return make_pair(process, row, arg, arg[3]);
}

int64_t sys_dup(struct linux_process *process, const struct syscall_row *row,
		const uint64_t *arg)
{
	int64_t result = sys_make(process, row, arg);

	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

int64_t sys_dup2(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	bool narrowed = limits_make_at(process, (uint32_t)arg[1]);
	int64_t result = marshal_call(process, row, arg);

	limits_made(process, narrowed, result);
	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

int64_t sys_dup3(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	return sys_dup2(process, row, arg);
}

static int64_t dup_from(struct linux_process *process, const uint64_t *arg)
{
	bool narrowed = limits_make_at(process, arg[2]);
	int64_t result = host_call(process, SYS_fcntl, arg[0], arg[1], arg[2]);

	limits_made(process, narrowed, result);
	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

/* ------- fcntl ------- */

/* Commands of fcntl() by what their argument is. */
static enum guest_struct fcntl_argument(int command, bool *in, bool *out)
{
	*in = *out = false;
	switch (command) {
	case F_GETLK:
	case F_OFD_GETLK:
		*in = *out = true;
		return S_FLOCK;
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		*in = true;
		return S_FLOCK;
	case F_GETOWN_EX:
		*out = true;
		return S_TWO_INTS;
	case F_SETOWN_EX:
		*in = true;
		return S_TWO_INTS;
	case F_GET_RW_HINT:
	case F_GET_FILE_RW_HINT:
		*out = true;
		return S_LONG;
	case F_SET_RW_HINT:
	case F_SET_FILE_RW_HINT:
		*in = true;
		return S_LONG;
	default:
		return S_NONE;
	}
}

static bool is_plain_fcntl(int command)
{
	switch (command) {
	case F_GETFD:
	case F_SETFD:
	case F_GETFL:
	case F_SETFL:
	case F_SETOWN:
	case F_GETOWN:
	case F_SETSIG:
	case F_GETSIG:
	case F_SETLEASE:
	case F_GETLEASE:
	case F_NOTIFY:
	case F_SETPIPE_SZ:
	case F_GETPIPE_SZ:
	case F_ADD_SEALS:
	case F_GET_SEALS:
		return true;
	default:
		return false;
	}
}

int64_t sys_fcntl(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	int command = (int)arg[1];
	bool in, out;
	enum guest_struct type = fcntl_argument(command, &in, &out);
	size_t size = syscall_struct_size(type, ABI_X86_64);
	void *copy = process->thread->bounce[2];
	int64_t result;

	(void)row;
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		return dup_from(process, arg);
	if (type == S_NONE) {
		if (!is_plain_fcntl(command))
			return fcntl((int)arg[0], F_GETFD) < 0 ? -EBADF :
								 -EINVAL;
		return host_call(process, SYS_fcntl, arg[0], arg[1], arg[2]);
	}
	memset(copy, 0, size);
	if (in && copy_in(process, copy, arg[2], size))
		return -EFAULT;
	result = host_wait(process, SYS_fcntl, arg[0], arg[1],
			   host_pointer(copy));
	if (result >= 0 && out && copy_out(process, arg[2], copy, size))
		return -EFAULT;
	return result;
}
