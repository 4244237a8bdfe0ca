/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futex.c - futex(2): waiting for other processes
 *
 * What lies in shared memory is the host's business: its pages are the
 * host's own, so other processes wait for the same.  Elsewhere nobody but the
 * only thread could wake anybody.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "vm/linux/handlers.h"
#include "vm/linux/process.h"

/* A signal or the time ends the wait. */
static int64_t wait_in_vain(struct linux_process *process, guest_addr timeout,
			    int command)
{
	bool absolute = (command & FUTEX_CMD_MASK) != FUTEX_WAIT;
	bool real = command & FUTEX_CLOCK_REALTIME;
	struct timespec limit;
	int64_t result;

	if (!timeout)
		return host_call(process, SYS_ppoll, 0, 0, 0, 0, 0);
	if (copy_in(process, &limit, timeout, sizeof(limit)))
		return -EFAULT;
	result = host_call(process, SYS_clock_nanosleep,
			   real ? CLOCK_REALTIME : CLOCK_MONOTONIC,
			   absolute ? TIMER_ABSTIME : 0, host_pointer(&limit),
			   0);
	return result ? result : -ETIMEDOUT;
}

static int64_t wait_alone(struct linux_process *process, const uint64_t *arg)
{
	int command = (int)arg[1];
	uint32_t value;

	if (copy_in(process, &value, arg[0], sizeof(value)))
		return -EFAULT;
	switch (command & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		if (value != (uint32_t)arg[2])
			return -EAGAIN;
		return wait_in_vain(process, arg[3], command);
	case FUTEX_CMP_REQUEUE:
		return value == (uint32_t)arg[5] ? 0 : -EAGAIN;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_REQUEUE:
		return 0;
	default:
		return -ENOSYS;
	}
}

static uint64_t host_word(struct linux_process *process, guest_addr addr,
			  enum memory_use use)
{
	uint64_t span;
	uint8_t *at = memory_at(process->memory, addr, sizeof(uint32_t), use,
				&span);

	return at ? host_pointer(at) : BAD_POINTER;
}

static int64_t wait_for_others(struct linux_process *process,
			       const uint64_t *arg)
{
	uint64_t word = host_word(process, arg[0], MEMORY_IN);
	uint64_t other = 0, limit = arg[3];
	struct timespec timeout;

	switch ((int)arg[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		if (limit && copy_in(process, &timeout, limit, sizeof(timeout)))
			return -EFAULT;
		limit = limit ? host_pointer(&timeout) : 0;
		break;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		other = host_word(process, arg[4], MEMORY_OUT);
		break;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		break;
	default:
		return -ENOSYS;
	}
	return host_call(process, SYS_futex, word, arg[1], arg[2], limit,
			 other, arg[5]);
}

int64_t sys_futex(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	const struct region *region;

	(void)row;
	if (arg[0] % 4)
		return -EINVAL;
	region = memory_region_at(process->memory, arg[0]);
	if (region && region->kind == REGION_SHARED &&
	    !(arg[1] & FUTEX_PRIVATE_FLAG))
		return wait_for_others(process, arg);
	return wait_alone(process, arg);
}
