/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcntl.c - fcntl(2), by what its argument is */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"

static int64_t dup_from(struct linux_process *process, const uint64_t *arg)
{
	bool narrowed = limits_make_at(process, arg[2]);
	int64_t result = host_call(process, SYS_fcntl, arg[0], arg[1], arg[2]);

	limits_made(process, narrowed, result);
	if (result >= 0)
		descriptor_copied(process, (int)result, (int)arg[0]);
	return result;
}

/* Kernels of 32 bits have commands of their own for offsets of 64. */
enum { F_GETLK_64 = 12, F_SETLK_64, F_SETLKW_64 };

static bool has_wide_locks(const struct linux_call *row, int command)
{
	bool is_old = command == F_GETLK || command == F_SETLK ||
		      command == F_SETLKW;

	return row == &linux_calls[CALL_fcntl64] && !is_old;
}

static int host_command(const struct linux_call *row, int command)
{
	if (row != &linux_calls[CALL_fcntl64])
		return command;
	switch (command) {
	case F_GETLK_64:
		return F_GETLK;
	case F_SETLK_64:
		return F_SETLK;
	case F_SETLKW_64:
		return F_SETLKW;
	default:
		return command;
	}
}

/* Commands of fcntl() by what their argument is. */
static enum guest_struct fcntl_argument(const struct linux_call *row,
					int command, bool *in, bool *out)
{
	enum guest_struct lock = has_wide_locks(row, command) ? S_FLOCK64 :
								S_FLOCK;

	*in = *out = false;
	switch (host_command(row, command)) {
	case F_GETLK:
	case F_OFD_GETLK:
		*in = *out = true;
		return lock;
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		*in = true;
		return lock;
	case F_GETOWN_EX:
		*out = true;
		return S_TWO_INTS;
	case F_SETOWN_EX:
		*in = true;
		return S_TWO_INTS;
	case F_GET_RW_HINT:
	case F_GET_FILE_RW_HINT:
		*out = true;
		return S_OFFSET;
	case F_SET_RW_HINT:
	case F_SET_FILE_RW_HINT:
		*in = true;
		return S_OFFSET;
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

/* Flags of open(2), from the guest's to the host's or back. */
static uint64_t swap_flags(const struct linux_process *process, uint64_t flags)
{
	return process->abi->open_flags ? process->abi->open_flags(flags) :
					  flags;
}

static int64_t plain_fcntl(struct linux_process *process, const uint64_t *arg)
{
	int command = (int)arg[1];
	uint64_t value = arg[2];
	int64_t result;

	if (command == F_SETFL)
		value = swap_flags(process, value);
	result = host_call(process, SYS_fcntl, arg[0], arg[1], value);
	return command == F_GETFL && result >= 0 ?
		       (int64_t)swap_flags(process, (uint64_t)result) : result;
}

int64_t sys_fcntl(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	int command = (int)arg[1];
	bool in, out;
	enum guest_struct type = fcntl_argument(row, command, &in, &out);
	void *copy = process->thread->bounce[2];
	int64_t result;

	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		return dup_from(process, arg);
	if (type == S_NONE) {
		if (!is_plain_fcntl(command))
			return fcntl((int)arg[0], F_GETFD) < 0 ? -EBADF :
								 -EINVAL;
		return plain_fcntl(process, arg);
	}
	memset(copy, 0, process->abi->layouts[type].host_size);
	if (in && struct_in(process, type, copy, arg[2]))
		return -EFAULT;
	result = host_wait(process, SYS_fcntl, arg[0],
			   (uint64_t)host_command(row, command),
			   host_pointer(copy));
	if (result >= 0 && out && struct_out(process, type, arg[2], copy))
		return -EFAULT;
	return result;
}
