/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socket_options.c - options whose value is not the same for guest and host */
#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"

static bool is_time_limit(const uint64_t *arg)
{
	return (int)arg[1] == SOL_SOCKET &&
	       ((int)arg[2] == SO_RCVTIMEO || (int)arg[2] == SO_SNDTIMEO);
}

static bool is_filter(const uint64_t *arg)
{
	return (int)arg[1] == SOL_SOCKET &&
	       ((int)arg[2] == SO_ATTACH_FILTER ||
		(int)arg[2] == SO_ATTACH_REUSEPORT_CBPF);
}

/* `value`: NULL for one that Linux refuses, if there is such a socket. */
static int64_t set(struct linux_process *process, const uint64_t *arg,
		   const void *value, size_t size)
{
	return host_call(process, SYS_setsockopt, arg[0], arg[1], arg[2],
			 host_pointer(value), value ? size : 0);
}

static int64_t set_time_limit(struct linux_process *process,
			      const uint64_t *arg)
{
	struct timeval limit;

	if ((int)arg[4] < (int)struct_size(process, S_TIMEVAL))
		return set(process, arg, NULL, 0);
	if (struct_in(process, S_TIMEVAL, &limit, arg[3]))
		return -EFAULT;
	return set(process, arg, &limit, sizeof(limit));
}

/* struct sock_fprog: how many instructions, and a pointer to them. */
static int64_t set_filter(struct linux_process *process, const uint64_t *arg)
{
	const unsigned word = process->abi->word;
	struct sock_filter code[BPF_MAXINSNS];
	struct sock_fprog program = { .filter = code };
	uint64_t from;

	if (arg[4] != 2 * word)
		return set(process, arg, NULL, 0);
	if (copy_in(process, &program.len, arg[3], sizeof(program.len)) ||
	    word_in(process, &from, arg[3] + word))
		return -EFAULT;
	if (program.len > BPF_MAXINSNS)
		return set(process, arg, NULL, 0);
	if (copy_in(process, code, from, program.len * sizeof(code[0])))
		return -EFAULT;
	return set(process, arg, &program, sizeof(program));
}

int64_t sys_setsockopt(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	if (is_time_limit(arg))
		return set_time_limit(process, arg);
	if (is_filter(arg))
		return set_filter(process, arg);
	return marshal_call(process, row, arg);
}

/* Linux gives as much of it as there is room for. */
int64_t sys_getsockopt(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	const struct guest_layout *layout = &process->abi->layouts[S_TIMEVAL];
	struct timeval limit = { 0 };
	uint8_t bytes[sizeof(limit)];
	int32_t room, size = sizeof(limit);
	int64_t result;

	if (!is_time_limit(arg))
		return marshal_call(process, row, arg);
	if (copy_in(process, &room, arg[4], sizeof(room)))
		return -EFAULT;
	result = host_call(process, SYS_getsockopt, arg[0], arg[1], arg[2],
			   host_pointer(&limit), host_pointer(&size));
	if (result < 0)
		return result;
	if (room < 0)
		return -EINVAL;
	layout_out(layout, bytes, &limit);
	if (room > layout->size)
		room = layout->size;
	if (copy_out(process, arg[3], bytes, (size_t)room) ||
	    copy_out(process, arg[4], &room, sizeof(room)))
		return -EFAULT;
	return result;
}
