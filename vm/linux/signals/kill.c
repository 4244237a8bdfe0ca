/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kill.c - sending signals, in particular to oneself */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals_internal.h"

/* ------- to other processes of the guest ------- */

/* Milliseconds to finish a recording, and between looks at who does. */
#define END_TIME 5000
#define LOOK_TIME 20

/* What /proc says of a process; its state is 0 if there is none. */
struct status {
	char state;
	unsigned long long caught;
};

static struct status status_of(int pid)
{
	struct status status = { 0 };
	char line[200];
	FILE *in;

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	in = fopen(line, "re");
	while (in && fgets(line, sizeof(line), in)) {
		sscanf(line, "State: %c", &status.state);
		sscanf(line, "SigCgt: %llx", &status.caught);
	}
	if (in)
		fclose(in);
	return status;
}

/* Whether it runs, or can, and handles the signal that asks it to end. */
static bool listens(int pid)
{
	struct status status = status_of(pid);

	return status.state && status.state != 't' && status.state != 'Z' &&
	       signals_can_end(status.caught);
}

/*
 * A process that is stopped must go on to end itself.  The signal for that,
 * which waits for it by then, comes before anything else that it does.  Signals
 * of our own wait: that it is continued, for one, is such a signal.
 */
static void wait_for_end(struct linux_process *process, struct pollfd *end,
			 int pid)
{
	int left = END_TIME;

	for (; left > 0 && !poll(end, 1, 0); left -= LOOK_TIME) {
		if (status_of(pid).state == 'T')
			kill(pid, SIGCONT);
		if (linux_has_signal(process))
			poll(end, 1, LOOK_TIME);
		else
			host_wait(process, SYS_poll, host_pointer(end), 1,
				  LOOK_TIME);
	}
}

/*
 * SIGKILL would cut the recording of another process short.  And the host could
 * not release its robust mutexes: only the process itself knows its guest's
 * robust list.  So it is asked to end itself, and has some time for it.
 */
static int64_t end_process(struct linux_process *process,
			   const struct linux_call *row, const uint64_t *arg)
{
	int pid = (int)arg[0];
	struct pollfd end = { .events = POLLIN };

	if (!is_relative((uint32_t)pid) || !listens(pid))
		return marshal_call(process, row, arg);
	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd >= 0)
		end.fd = linux_hide_descriptor(end.fd);
	if (end.fd < 0)
		return marshal_call(process, row, arg);
	signals_end_process(pid);
	wait_for_end(process, &end, pid);
	if (!poll(&end, 1, 0))
		kill(pid, SIGKILL);
	linux_close_hidden(end.fd);
	return 0;
}

/* ------- to oneself ------- */

static bool is_ignored(const struct linux_process *process, int number)
{
	uint64_t handler = process->actions->of[number].handler;

	return handler == (uintptr_t)SIG_IGN ||
	       (handler == (uintptr_t)SIG_DFL &&
		signals_default(number) == DEFAULT_NOTHING);
}

/* The present thread ignores it; a debugger is told of that. */
static bool is_told_alone(const struct linux_process *process,
			  const struct linux_thread *target, int number)
{
	/* The host undoes stops with SIGCONT. */
	return target == process->thread && number >= 1 &&
	       number <= SIGNALS && number != SIGCONT &&
	       !(target->signals->mask & MASK_OF(number)) &&
	       is_ignored(process, number);
}

/*
 * Signals to oneself that the host cannot be asked for: SIGKILL, which would
 * end cprec before the recording is, SIGSEGV and SIGBUS, which touch.c would
 * take for its own, and those that it would drop without a word.
 */
static bool is_ours(const struct linux_process *process,
		    const struct linux_thread *target, int number)
{
	return number == SIGKILL || number == SIGSEGV || number == SIGBUS ||
	       is_told_alone(process, target, number);
}

static int64_t send_to_own(struct linux_process *process,
			   struct linux_thread *target, const siginfo_t *info)
{
	int number = info->si_signo;
	bool is_blocked = target->signals->mask >> (number - 1) & 1;

	if (number == SIGKILL)
		process_ends(process, LINUX_KILLED, SIGKILL);
	else if (is_blocked || !is_ignored(process, number) ||
		 target == process->thread)
		signals_send_own(target, info);
	return 0;
}

static int64_t send(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg,
		    struct linux_thread *target, int number, int code)
{
	siginfo_t info = { .si_signo = number, .si_code = code };

	if (!target || !is_ours(process, target, number))
		return marshal_call(process, row, arg);
	info.si_pid = getpid();
	info.si_uid = getuid();
	return send_to_own(process, target, &info);
}

/* Processes that a number means may be this one, among others. */
static void tell_stop(struct linux_process *process, uint64_t pid, int number)
{
	const struct linux_observer *observer = process->observer;
	bool stops = number == SIGSTOP || number == SIGTSTP ||
		     number == SIGTTIN || number == SIGTTOU;

	if (stops && ((int)pid <= 0 || (int)pid == getpid() ||
		      thread_find(process, (int)pid)) &&
	    observer && observer->stops)
		observer->stops(observer->context);
}

/* The thread that gets a signal to a process, if that is this one. */
static struct linux_thread *in_process(struct linux_process *process,
				       uint64_t pid)
{
	return (int)pid == getpid() ? process->thread : NULL;
}

int64_t sys_kill(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	if ((int)arg[1] == SIGKILL && (int)arg[0] > 0 &&
	    (int)arg[0] != getpid())
		return end_process(process, row, arg);
	tell_stop(process, arg[0], (int)arg[1]);
	return send(process, row, arg, in_process(process, arg[0]),
		    (int)arg[1], SI_USER);
}

int64_t sys_tkill(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	tell_stop(process, arg[0], (int)arg[1]);
	return send(process, row, arg, thread_find(process, (int)arg[0]),
		    (int)arg[1], SI_TKILL);
}

int64_t sys_tgkill(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	struct linux_thread *target = NULL;

	if ((int)arg[0] == getpid())
		target = thread_find(process, (int)arg[1]);
	tell_stop(process, arg[0], (int)arg[2]);
	return send(process, row, arg, target, (int)arg[2], SI_TKILL);
}

/* The number, and the siginfo behind `from`, to the target or to oneself. */
static int64_t queue(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg,
		     struct linux_thread *target, int number, int place)
{
	uint64_t host[6] = { arg[0], arg[1], arg[2], arg[3], arg[4], arg[5] };
	siginfo_t info;

	if (!arg[place])
		return marshal_call(process, row, arg);
	if (struct_in(process, S_SIGINFO, &info, arg[place]))
		return -EFAULT;
	info.si_signo = number;
	if (target && is_ours(process, target, number))
		return send_to_own(process, target, &info);
	host[place] = host_pointer(&info);
	return host_call_array(process, row->host, host);
}

int64_t sys_rt_sigqueueinfo(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	return queue(process, row, arg, in_process(process, arg[0]),
		     (int)arg[1], 2);
}

int64_t sys_rt_tgsigqueueinfo(struct linux_process *process,
			      const struct linux_call *row,
			      const uint64_t *arg)
{
	struct linux_thread *target = NULL;

	if ((int)arg[0] == getpid())
		target = thread_find(process, (int)arg[1]);
	return queue(process, row, arg, target, (int)arg[2], 3);
}

int64_t sys_pidfd_send_signal(struct linux_process *process,
			      const struct linux_call *row,
			      const uint64_t *arg)
{
	return queue(process, row, arg, NULL, (int)arg[1], 2);
}
