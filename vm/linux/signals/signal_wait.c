/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signal_wait.c - rt_sigtimedwait(2)
 *
 * What the host's kernel has it gives out itself.  Those signals that are kept
 * here, because the host must not block them (host_signals.c), are taken from
 * there.  Linux gives those of faults out first, the others by number, and the
 * only other that is kept has the highest.  One that comes just before the
 * host's call interrupts nothing, so the host does not wait for long.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals_internal.h"

#define SECOND INT64_C(1000000000)	/* in nanoseconds, as all times here */
#define FAULTS (MASK_OF(SIGSEGV) | MASK_OF(SIGBUS))
#define LONGEST (SECOND / 10)		/* that the host waits, if it matters */

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

/* When the waiting ends; INT64_MAX: never. */
static int64_t end_of(const struct timespec *limit)
{
	int64_t start = now();

	if (!limit || limit->tv_sec >= (INT64_MAX - start) / SECOND - 1)
		return INT64_MAX;
	return start + limit->tv_sec * SECOND + limit->tv_nsec;
}

/* How long the host is to wait next; NULL: for ever. */
static struct timespec *next_wait(struct timespec *wait, int64_t end,
				  int64_t most)
{
	int64_t left = end == INT64_MAX ? INT64_MAX : end - now();

	if (left > most)
		left = most;
	if (left == INT64_MAX)
		return NULL;
	if (left < 0)
		left = 0;
	*wait = (struct timespec){ left / SECOND, left % SECOND };
	return wait;
}

static int64_t wait_for(struct linux_process *process, uint64_t set,
			const struct timespec *limit, siginfo_t *info)
{
	struct signals *signals = process->thread->signals;
	uint64_t hosts = signals_host_mask(set);
	int64_t end = end_of(limit), most, result;

	for (;;) {
		struct timespec wait;
		int64_t kept = signals_take_own(signals, set & FAULTS, info);

		if (kept)
			return kept;
		most = signals->own & set ? 0 :
		       hosts != set	  ? LONGEST :
					    INT64_MAX;
		result = host_wait(process, SYS_rt_sigtimedwait,
				   host_pointer(&hosts), host_pointer(info),
				   host_pointer(next_wait(&wait, end, most)),
				   sizeof(hosts));
		if (result != -EAGAIN && result != -EINTR)
			return result;
		kept = signals_take_own(signals, set, info);
		if (kept)
			return kept;
		if (result == -EINTR || now() >= end)
			return result;
	}
}

int64_t sys_rt_sigtimedwait(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct timespec limit;
	siginfo_t info;
	uint64_t set;
	int64_t result;

	if (arg[3] != sizeof(set))
		return -EINVAL;
	if (struct_in(process, S_SIGSET, &set, arg[0]) ||
	    (arg[2] && struct_in(process, row->args[2].type, &limit, arg[2])))
		return -EFAULT;
	if (arg[2] && (limit.tv_sec < 0 || limit.tv_nsec < 0 ||
		       limit.tv_nsec >= SECOND))
		return -EINVAL;
	result = wait_for(process, set & ~UNBLOCKABLE, arg[2] ? &limit : NULL,
			  &info);
	if (result > 0 && arg[1] &&
	    struct_out(process, S_SIGINFO, arg[1], &info))
		return -EFAULT;
	return result;
}
