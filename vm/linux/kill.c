/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kill.c - sending signals, in particular to oneself */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/handlers.h"
#include "vm/linux/process.h"

static int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/*
 * Signals to oneself that the host cannot be asked for: SIGKILL, which would
 * end cprec before the recording is, and SIGSEGV and SIGBUS, which memory.c
 * would take for its own.
 */
static bool is_ours(int number)
{
	return number == SIGKILL || number == SIGSEGV || number == SIGBUS;
}

static int64_t send_to_self(struct linux_process *process,
			    const siginfo_t *info)
{
	const struct signals *signals = &process->signals;
	int number = info->si_signo;

	if (number == SIGKILL) {
		process->outcome = LINUX_KILLED;
		process->status = SIGKILL;
	} else if (signals->action[number].handler != (uintptr_t)SIG_IGN ||
		   signals->mask >> (number - 1) & 1) {
		signals_send_own(process, info);
	}
	return 0;
}

static int64_t send(struct linux_process *process,
		    const struct syscall_row *row, const uint64_t *arg,
		    bool to_self, int number, int code)
{
	siginfo_t info = { .si_signo = number, .si_code = code };

	if (!to_self || !is_ours(number))
		return marshal_call(process, row, arg);
	info.si_pid = getpid();
	info.si_uid = getuid();
	return send_to_self(process, &info);
}

int64_t sys_kill(struct linux_process *process, const struct syscall_row *row,
		 const uint64_t *arg)
{
	return send(process, row, arg, (int)arg[0] == getpid(), (int)arg[1],
		    SI_USER);
}

int64_t sys_tkill(struct linux_process *process, const struct syscall_row *row,
		  const uint64_t *arg)
{
	return send(process, row, arg, (int)arg[0] == own_tid(), (int)arg[1],
		    SI_TKILL);
}

int64_t sys_tgkill(struct linux_process *process,
		   const struct syscall_row *row, const uint64_t *arg)
{
	bool to_self = (int)arg[0] == getpid() && (int)arg[1] == own_tid();

	return send(process, row, arg, to_self, (int)arg[2], SI_TKILL);
}

/* The number, and the siginfo behind `from`, to the target or to oneself. */
static int64_t queue(struct linux_process *process,
		     const struct syscall_row *row, const uint64_t *arg,
		     bool to_self, int number, int place)
{
	uint64_t host[6] = { arg[0], arg[1], arg[2], arg[3], arg[4], arg[5] };
	siginfo_t info;

	if (!arg[place])
		return marshal_call(process, row, arg);
	if (copy_in(process, &info, arg[place], sizeof(info)))
		return -EFAULT;
	info.si_signo = number;
	if (to_self && is_ours(number))
		return send_to_self(process, &info);
	host[place] = host_pointer(&info);
	return host_call_array(process, row->number[ABI_X86_64], host);
}

int64_t sys_rt_sigqueueinfo(struct linux_process *process,
			    const struct syscall_row *row, const uint64_t *arg)
{
	return queue(process, row, arg, (int)arg[0] == getpid(), (int)arg[1],
		     2);
}

int64_t sys_rt_tgsigqueueinfo(struct linux_process *process,
			      const struct syscall_row *row,
			      const uint64_t *arg)
{
	bool to_self = (int)arg[0] == getpid() && (int)arg[1] == own_tid();

	return queue(process, row, arg, to_self, (int)arg[2], 3);
}

int64_t sys_pidfd_send_signal(struct linux_process *process,
			      const struct syscall_row *row,
			      const uint64_t *arg)
{
	return queue(process, row, arg, false, (int)arg[1], 2);
}
