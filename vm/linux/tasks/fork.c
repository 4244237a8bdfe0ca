/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork.c - new processes: fork(2), vfork(2), clone(2) and clone3(2)
 *
 * cprec itself forks, and with it the engine and the guest's memory, which
 * the host copies when it is written to.  So the child of a vfork(), too, has
 * memory of its own.  Its parent waits until the child executes a program, or
 * ends, and gets what the child has changed (vfork_pages.c, vfork_calls.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks_internal.h"

/* Shared with the parent in ways that a process of the host cannot be. */
#define UNSHAREABLE                                                          \
	(CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_FILES | CLONE_IO | \
	 CLONE_PARENT)
#define NAMESPACES                                                        \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |    \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)
#define EXIT_SIGNAL 0xff	/* of clone()'s flags */

/* ------- making a child ------- */

static void tell_before(struct linux_process *process)
{
	const struct linux_observer *observer = process->observer;

	if (observer && observer->before_fork)
		observer->before_fork(observer->context);
}

static void tell_after(struct linux_process *process, int pid)
{
	const struct linux_observer *observer = process->observer;

	if (observer && observer->after_fork)
		observer->after_fork(observer->context, pid);
}

static int64_t start_child(struct linux_process *process,
			   const struct clone_request *request)
{
	int tid = (int)syscall(SYS_gettid);

	peaks_forget(process);
	locks_forget(process);
	if (request->flags & CLONE_CHILD_SETTID)
		copy_out(process, request->child_tid, &tid, sizeof(tid));
	if (request->flags & CLONE_CLEAR_SIGHAND)
		signals_drop_handlers(process);
	process->abi->begin(process->vm, request->stack,
			    request->flags & CLONE_SETTLS ? &request->thread :
							    NULL);
	process->thread->changed_registers = true;
	return 0;
}

static int64_t go_on(struct linux_process *process,
		     const struct clone_request *request, int pid)
{
	if (request->flags & CLONE_PARENT_SETTID)
		copy_out(process, request->parent_tid, &pid, sizeof(pid));
	if (request->flags & CLONE_PIDFD) {
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		limits_made(process, false, fd);
		copy_out(process, request->pidfd, &fd, sizeof(fd));
	}
	return pid;
}

/* fork(2) itself, with nothing from the host in between. */
static int fork_host(struct linux_process *process)
{
	uint64_t held;
	int pid;

	if (memory_end_alone(process->memory))
		return -ENOMEM;
	vm_keep_translations(process->vm);
	fflush(NULL);	/* what waits to be written is to be written once */
	tell_before(process);
	held = signals_hold_end();
	pid = fork();
	if (pid < 0)
		pid = -errno;
	if (!pid)
		signals_forget(process);
	signals_let(held);	/* a child may have been killed by now */
	if (!pid) {
		descriptors_age(process);
		descriptors_review_stderr(process);
		threads_forget_others(process);
		scheduler_alone(process);
		process->thread->tid = (uint32_t)syscall(SYS_gettid);
		process->thread->index = 0;
		process->next_index = 1;
		process->was_threaded = false;
		/* Whoever waits for this process waits for no other. */
		if (process->tasks->waited_by >= 0)
			linux_close_hidden(process->tasks->waited_by);
		process->tasks->waited_by = -1;
		process->tasks->lends = false;
	}
	tell_after(process, pid);
	return pid;
}

static void close_end(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int64_t make_child(struct linux_process *process,
			  const struct clone_request *request)
{
	int ends[2] = { -1, -1 };
	uint64_t held;
	int pid;

	if (request->flags & CLONE_PIDFD && !limits_allow_descriptor(process))
		return -EMFILE;
	held = signals_hold();
	if (linux_has_signal(process)) {
		signals_let(held);
		return -RESTART_ALWAYS;
	}
	/* Without a socket the parent does not wait, which few will notice. */
	if (request->flags & CLONE_VFORK &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		ends[0] = ends[1] = -1;
	pid = fork_host(process);
	if (!pid && ends[1] >= 0) {
		process->tasks->waited_by = linux_hide_descriptor(ends[1]);
		process->tasks->lends = request->flags & CLONE_VM;
		ends[1] = process->tasks->waited_by < 0 ? ends[1] : -1;
	}
	signals_let(held);
	close_end(ends[1]);
	if (pid > 0 && ends[0] >= 0)
		vfork_wait(process, ends[0]);
	close_end(ends[0]);
	if (pid < 0)
		return pid;
	return pid ? go_on(process, request, pid) :
		     start_child(process, request);
}

/* ------- calls ------- */

static int64_t refuse(struct linux_process *process, const char *what)
{
	notice_once(process, process->thread->number, NOTICE_LACK,
		    "the program starts %s, it gets ENOSYS", what);
	return -ENOSYS;
}

static int take_tls(struct linux_process *process,
		    struct clone_request *request)
{
	const struct linux_abi *abi = process->abi;

	if (!(request->flags & CLONE_SETTLS))
		return 0;
	if (abi->take_tls)
		return abi->take_tls(process, request->tls, &request->thread);
	request->thread = (struct guest_tls){
		vm_reg_table(process->vm)->tls, request->tls,
	};
	return request->tls >= abi->user_end ? -EPERM : 0;
}

static int64_t clone_thread(struct linux_process *process,
			    struct clone_request *request)
{
	uint64_t flags = request->flags;
	int rc;

	if (!(flags & CLONE_VM) || !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if (flags & (NAMESPACES | CLONE_VFORK | CLONE_PIDFD |
		     CLONE_CLEAR_SIGHAND))
		return -EINVAL;
	if (!(flags & CLONE_FS) || !(flags & CLONE_FILES))
		return refuse(process, "a thread with files or a directory of "
				       "its own: these are not supported");
	rc = take_tls(process, request);
	return rc ? rc : thread_start(process, request);
}

static int64_t clone_process(struct linux_process *process,
			     struct clone_request *request)
{
	uint64_t flags = request->flags;
	int rc;

	if (flags & CLONE_THREAD)
		return clone_thread(process, request);
	if (flags & NAMESPACES)
		return -EPERM;
	if (flags & (UNSHAREABLE & ~(uint64_t)CLONE_THREAD) ||
	    (flags & CLONE_VM && !(flags & CLONE_VFORK)))
		return refuse(process,
			      "a process that shares more than the program: "
			      "these are not supported");
	rc = take_tls(process, request);
	return rc ? rc : make_child(process, request);
}

int64_t sys_clone(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	struct clone_request request = {
		.flags = arg[0] & UINT32_MAX & ~(uint64_t)EXIT_SIGNAL,
		.stack = arg[1],
		.parent_tid = arg[2],
		.child_tid = arg[process->abi->clone_child_tid],
		.pidfd = arg[2],
		.tls = arg[process->abi->clone_tls],
	};

	(void)row;
	if (request.flags & CLONE_PIDFD && request.flags & CLONE_PARENT_SETTID)
		return -EINVAL;
	return clone_process(process, &request);
}

/*
 * What the structure of the caller's size holds, the rest being zeros.  It is
 * the same for all kinds of guests.
 */
static int copy_clone_args(struct linux_process *process,
			   struct clone_args *out, guest_addr from,
			   uint64_t size)
{
	uint64_t word;

	memset(out, 0, sizeof(*out));
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	if (size > GUEST_PAGE)
		return -E2BIG;
	for (uint64_t at = sizeof(*out); at + 8 <= size; at += 8) {
		if (copy_in(process, &word, from + at, sizeof(word)))
			return -EFAULT;
		if (word)
			return -E2BIG;
	}
	return copy_in(process, out, from,
		       size < sizeof(*out) ? size : sizeof(*out));
}

int64_t sys_clone3(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	struct clone_args args;
	struct clone_request request;
	int rc = copy_clone_args(process, &args, arg[0], arg[1]);

	(void)row;
	if (rc)
		return rc;
	if (args.flags & (EXIT_SIGNAL | CLONE_DETACHED) ||
	    !args.stack != !args.stack_size || args.exit_signal > SIGNALS)
		return -EINVAL;
	if (args.set_tid_size || args.flags & CLONE_INTO_CGROUP)
		return -EPERM;
	request = (struct clone_request){
		.flags = args.flags,
		.stack = args.stack + args.stack_size,
		.parent_tid = args.parent_tid,
		.child_tid = args.child_tid,
		.pidfd = args.pidfd,
		.tls = args.tls,
	};
	return clone_process(process, &request);
}

int64_t sys_fork(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	const struct clone_request request = { 0 };

	(void)row;
	(void)arg;
	return make_child(process, &request);
}

int64_t sys_vfork(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const struct clone_request request = { .flags = CLONE_VFORK | CLONE_VM };

	(void)row;
	(void)arg;
	return make_child(process, &request);
}
