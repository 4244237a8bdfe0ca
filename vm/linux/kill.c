/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kill.c - sending signals, in particular to oneself */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/handlers.h"
#include "vm/linux/process.h"


/*
 * Signals to oneself that the host cannot be asked for: SIGKILL, which would
 * end cprec before the recording is, and SIGSEGV and SIGBUS, which memory.c
 * would take for its own.
 */
static bool is_ours(int number)
{
	return number == SIGKILL || number == SIGSEGV || number == SIGBUS;
}

static int64_t send_to_own(struct linux_process *process,
			   struct linux_thread *target, const siginfo_t *info)
{
	int number = info->si_signo;

	if (number == SIGKILL) {
		process->thread->outcome = LINUX_KILLED;
		process->thread->status = SIGKILL;
	} else if (process->action[number].handler != (uintptr_t)SIG_IGN ||
		   target->signals.mask >> (number - 1) & 1) {
		signals_send_own(target, info);
	}
	return 0;
}

static int64_t send(struct linux_process *process,
		    const struct syscall_row *row, const uint64_t *arg,
		    struct linux_thread *target, int number, int code)
{
	siginfo_t info = { .si_signo = number, .si_code = code };

	if (!target || !is_ours(number))
		return marshal_call(process, row, arg);
	info.si_pid = getpid();
	info.si_uid = getuid();
	return send_to_own(process, target, &info);
}

/* The thread that gets a signal to a process, if that is this one. */
static struct linux_thread *in_process(struct linux_process *process,
				       uint64_t pid)
{
	return (int)pid == getpid() ? process->thread : NULL;
}

int64_t sys_kill(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	return send(process, row, arg, in_process(process, arg[0]),
		    (int)arg[1], SI_USER);
}

int64_t sys_tkill(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	return send(process, row, arg, thread_find(process, (int)arg[0]),
		    (int)arg[1], SI_TKILL);
}

int64_t sys_tgkill(struct linux_process *process,
		   const struct syscall_row *row, const uint64_t *arg)
{
	struct linux_thread *target = NULL;

	if ((int)arg[0] == getpid())
		target = thread_find(process, (int)arg[1]);
	return send(process, row, arg, target, (int)arg[2], SI_TKILL);
}

/* The number, and the siginfo behind `from`, to the target or to oneself. */
static int64_t queue(struct linux_process *process,
		     const struct syscall_row *row, const uint64_t *arg,
		     struct linux_thread *target, int number, int place)
{
	uint64_t host[6] = { arg[0], arg[1], arg[2], arg[3], arg[4], arg[5] };
	siginfo_t info;

	if (!arg[place])
		return marshal_call(process, row, arg);
	if (copy_in(process, &info, arg[place], sizeof(info)))
		return -EFAULT;
	info.si_signo = number;
	if (target && is_ours(number))
		return send_to_own(process, target, &info);
	host[place] = host_pointer(&info);
	return host_call_array(process, row->number[ABI_X86_64], host);
}

int64_t sys_rt_sigqueueinfo(struct linux_process *process,
			    const struct syscall_row *row, const uint64_t *arg)
{
	return queue(process, row, arg, in_process(process, arg[0]),
		     (int)arg[1], 2);
}

int64_t sys_rt_tgsigqueueinfo(struct linux_process *process,
			      const struct syscall_row *row,
			      const uint64_t *arg)
{
	struct linux_thread *target = NULL;

	if ((int)arg[0] == getpid())
		target = thread_find(process, (int)arg[1]);
	return queue(process, row, arg, target, (int)arg[2], 3);
}

int64_t sys_pidfd_send_signal(struct linux_process *process,
			      const struct syscall_row *row,
			      const uint64_t *arg)
{
	return queue(process, row, arg, NULL, (int)arg[1], 2);
}
