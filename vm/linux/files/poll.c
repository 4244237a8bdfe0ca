/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poll.c - poll(2); select(2), whose sets have a size of their own */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Bytes of the largest set: as many descriptors as a bounce buffer has bits. */
#define SET_MOST BOUNCE

int64_t sys_poll(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	if ((uint32_t)arg[1] > limit_of(process, LIMIT_DESCRIPTORS))
		return -EINVAL;
	return marshal_call(process, row, arg);
}

int64_t sys_ppoll(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	return sys_poll(process, row, arg);
}

struct sets {
	uint64_t host[3];	/* read, write, exceptional */
	size_t size;		/* of each */
};

static int take_sets(struct linux_process *process, const uint64_t *arg,
		     struct sets *sets)
{
	int count = (int)arg[0];
	unsigned word = process->abi->word;

	if (count < 0)
		return -EINVAL;
	sets->size = ((size_t)count + 8 * word - 1) / (8 * word) * word;
	if (sets->size > SET_MOST)
		sets->size = SET_MOST;
	for (int i = 0; i < 3; i++) {
		sets->host[i] = 0;
		if (!arg[i + 1])
			continue;
		if (copy_in(process, process->thread->bounce[i], arg[i + 1],
			    sets->size))
			return -EFAULT;
		sets->host[i] = host_pointer(process->thread->bounce[i]);
	}
	return 0;
}

static int give_sets(struct linux_process *process, const uint64_t *arg,
		     const struct sets *sets)
{
	for (int i = 0; i < 3; i++)
		if (arg[i + 1] &&
		    copy_out(process, arg[i + 1], process->thread->bounce[i],
			     sets->size))
			return -EFAULT;
	return 0;
}

static uint64_t count_of(const uint64_t *arg)
{
	return arg[0] > SET_MOST * 8 ? SET_MOST * 8 : arg[0];
}

/* The sets after success; the time that is left also after a signal. */
static int64_t finish(struct linux_process *process, const uint64_t *arg,
		      const struct sets *sets, const void *left,
		      enum guest_struct type, int64_t result)
{
	if ((result >= 0 || result == -EINTR) && arg[4] &&
	    struct_out(process, type, arg[4], left))
		return -EFAULT;
	if (result >= 0 && give_sets(process, arg, sets))
		return -EFAULT;
	return result;
}

int64_t sys_select(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	uint64_t timeout[2];	/* struct timeval */
	struct sets sets;
	int64_t result = take_sets(process, arg, &sets);

	(void)row;
	if (result)
		return result;
	if (arg[4] && struct_in(process, S_TIMEVAL, timeout, arg[4]))
		return -EFAULT;
	result = host_wait(process, SYS_select, count_of(arg), sets.host[0],
			   sets.host[1], sets.host[2],
			   arg[4] ? host_pointer(timeout) : 0);
	return finish(process, arg, &sets, timeout, S_TIMEVAL, result);
}

int64_t sys_pselect6(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	uint64_t timeout[2];		/* struct timespec */
	uint64_t given[2] = { 0 };	/* address and size of a mask */
	uint64_t mask, passed[2] = { 0 };
	struct sets sets;
	enum guest_struct type = row->args[4].type;
	int64_t result = take_sets(process, arg, &sets);

	if (result)
		return result;
	if ((arg[4] && struct_in(process, type, timeout, arg[4])) ||
	    (arg[5] && struct_in(process, S_SET_AND_SIZE, given, arg[5])))
		return -EFAULT;
	if (given[0]) {
		if (given[1] != sizeof(mask))
			return -EINVAL;
		if (struct_in(process, S_SIGSET, &mask, given[0]))
			return -EFAULT;
		signals_lend_mask(process, mask);
		mask = signals_host_mask(mask);
		passed[0] = host_pointer(&mask);
		passed[1] = sizeof(mask);
	}
	result = host_wait(process, SYS_pselect6, count_of(arg), sets.host[0],
			   sets.host[1], sets.host[2],
			   arg[4] ? host_pointer(timeout) : 0,
			   host_pointer(passed));
	signals_return_mask(process, result);
	return finish(process, arg, &sets, timeout, type, result);
}
