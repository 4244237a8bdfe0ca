/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c - threads of the guest: their beginning and end
 *
 * Each is performed by a host thread of its own, whose number, signal mask
 * and state in the host's kernel are the guest thread's.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks_internal.h"

#define HOST_STACK (1u << 20)

/* After this many PAUSE instructions in one run, another thread runs. */
#define PAUSES_MOST 32

/* ------- running ------- */

/*
 * A slice ends before a block that does not fit into it, and where the thread
 * spins.
 */
static bool slice_is_over(const struct linux_process *process, uint64_t before)
{
	const struct scheduler *scheduler = &process->tasks->scheduler;

	if (process->thread_count < 2)
		return false;
	if (vm_has_paused(process->vm))
		return true;
	if (scheduler->options.by_time)
		return scheduler->overdue;
	return vm_steps(process->vm) >= scheduler->slice_end ||
	       vm_steps(process->vm) == before || scheduler_is_late(process);
}

static uint64_t budget(const struct linux_process *process)
{
	const struct scheduler *scheduler = &process->tasks->scheduler;
	uint64_t now = vm_steps(process->vm);

	if (process->thread_count < 2 || scheduler->options.by_time)
		return UINT64_MAX;
	return scheduler->slice_end > now ? scheduler->slice_end - now : 1;
}

void linux_set_schedule(struct linux_process *process,
			const struct linux_schedule *schedule)
{
	process->tasks->scheduler.options = *schedule;
	process->tasks->scheduler.random = schedule->seed;
}

/* ------- the host's threads ------- */

static void unlist(struct linux_process *process, struct linux_thread *thread)
{
	struct linux_thread **at = &process->threads;

	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	process->thread_count--;
}

static void tell_end(const struct linux_thread *thread)
{
	const struct linux_observer *observer = thread->process->observer;

	if (observer && observer->thread_ends)
		observer->thread_ends(observer->context, thread->index);
}

/* It is freed when another thread has taken over. */
static void retire(struct linux_thread *thread)
{
	struct linux_process *process = thread->process;

	thread->next = process->tasks->scheduler.dead;
	process->tasks->scheduler.dead = thread;
	scheduler_leave(process);
}

void thread_vanish(struct linux_thread *thread)
{
	jmp_buf home;

	unlist(thread->process, thread);
	tell_end(thread);
	signals_hold();
	signals_abandon();
	memcpy(&home, &thread->task->home, sizeof(home));
	retire(thread);
	longjmp(home, 1);
}

static bool is_leader(void)
{
	return syscall(SYS_gettid) == getpid();
}

/*
 * Gives the present thread, which executes a program, to the leader.  Host
 * threads return from where they began: pthread_exit() would load a library.
 */
static _Noreturn void hand_over(struct linux_process *process)
{
	jmp_buf home;

	signals_hold();
	signals_abandon();
	memcpy(&home, &process->thread->task->home, sizeof(home));
	process->tasks->successor = process->thread;
	scheduler_leave(process);
	sem_post(&process->tasks->succession);
	longjmp(home, 1);
}

/* Waits for such a thread, mostly for ever. */
static struct linux_thread *succeed(struct linux_process *process)
{
	struct linux_thread *thread;

	while (sem_wait(&process->tasks->succession))
		;
	thread = process->tasks->successor;
	process->tasks->successor = NULL;
	thread->tid = (uint32_t)getpid();
	signals_adopt(thread);
	scheduler_enter(thread);
	return thread;
}

/* Runs the present thread to its end, or the process's. */
static int run_thread(struct linux_process *process,
		      struct linux_result *result, struct failure *why)
{
	const struct linux_driver *driver = process->driver;
	bool exact = scheduler_is_exact(process);
	int rc;

	memset(result, 0, sizeof(*result));
	for (;;) {
		uint64_t before = vm_steps(process->vm);

		rc = driver->advance(driver->context, budget(process), exact,
				     result, why);
		if (rc || result->outcome != LINUX_GOES_ON)
			return rc;
		if (process->tasks->succeeds) {
			process->tasks->succeeds = false;
			hand_over(process);
		}
		if (slice_is_over(process, before))
			scheduler_yield(process);
	}
}

/*
 * Performs a thread that has the processor, until the process ends.  Or until
 * the thread does, if the host thread is not the process's first: that one
 * stays as long as the process.
 */
static int perform(struct linux_thread *thread, struct linux_result *result,
		   struct failure *why)
{
	struct linux_process *process = thread->process;
	struct linux_thread *volatile present = thread;
	int rc;

	for (;;) {
		if (!setjmp(present->task->home)) {
			rc = run_thread(process, result, why);
			if (rc || result->outcome != LINUX_THREAD_ENDED)
				return rc;
			signals_hold();
			signals_abandon();
			retire(present);
		}
		/* It has gone. */
		if (!is_leader()) {
			result->outcome = LINUX_THREAD_ENDED;
			return 0;
		}
		present = succeed(process);
	}
}

int linux_run(struct linux_process *process, const struct linux_driver *driver,
	      struct linux_result *result, struct failure *why)
{
	process->driver = driver;
	return perform(process->thread, result, why);
}

/* What a new host thread is told, and tells. */
struct birth {
	struct linux_thread *thread;
	sem_t known;		/* its number is in thread->tid */
};

static void *host_thread(void *argument)
{
	struct birth *birth = argument;
	struct linux_thread *thread = birth->thread;
	struct linux_process *process = thread->process;
	struct linux_result result;
	struct failure why;
	int rc;

	thread->tid = (uint32_t)syscall(SYS_gettid);
	sem_post(&birth->known);	/* `birth` is gone from here on */
	signals_adopt(thread);
	if (setjmp(thread->task->home))
		return NULL;
	scheduler_take(thread);
	rc = perform(thread, &result, &why);
	if (!rc && result.outcome == LINUX_THREAD_ENDED)
		return NULL;
	process->driver->ended(process->driver->context, rc, &result, &why);
}

static int start_host_thread(struct linux_thread *thread)
{
	struct birth birth = { .thread = thread };
	pthread_attr_t attributes;
	pthread_t host;
	uint64_t held;
	int rc;

	sem_init(&birth.known, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, HOST_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	held = signals_hold();
	rc = pthread_create(&host, &attributes, host_thread, &birth);
	signals_let(held);
	while (!rc && sem_wait(&birth.known))
		;
	pthread_attr_destroy(&attributes);
	sem_destroy(&birth.known);
	return -rc;
}

/* ------- the guest's threads ------- */

/* What a thread is, with what the rooms have of it. */
struct whole_thread {
	struct linux_thread thread;
	struct signals signals;
	struct task task;
};

static struct linux_thread *create(struct linux_process *process)
{
	struct whole_thread *whole = calloc(1, sizeof(*whole));

	if (!whole)
		return NULL;
	whole->thread.process = process;
	whole->thread.signals = &whole->signals;
	whole->thread.task = &whole->task;
	return &whole->thread;
}

int tasks_init(struct linux_process *process)
{
	struct linux_thread *thread = create(process);

	if (!thread)
		return ERR_NO_MEMORY;
	thread->vm_thread = vm_thread_current(process->vm);
	thread->tid = (uint32_t)syscall(SYS_gettid);
	process->thread = process->threads = thread;
	process->thread_count = process->next_index = 1;
	process->tasks->waited_by = -1;
	sem_init(&process->tasks->succession, 0, 0);
	scheduler_init(process);
	return 0;
}

static struct linux_thread *make_thread(struct linux_process *process,
					const struct clone_request *request)
{
	struct linux_thread *self = process->thread;
	struct linux_thread *thread = create(process);
	struct vm *vm = process->vm;

	if (!thread)
		return NULL;
	if (vm_thread_create(vm, &thread->vm_thread, NULL)) {
		free(thread);
		return NULL;
	}
	thread->index = process->next_index++;
	signals_inherit(thread->signals, self->signals);
	thread->has_no_clock = self->has_no_clock;
	if (request->flags & CLONE_CHILD_CLEARTID)
		thread->task->clear_tid = request->child_tid;
	vm_thread_switch(vm, thread->vm_thread);
	process->abi->begin(vm, request->stack,
			    request->flags & CLONE_SETTLS ? &request->thread :
							    NULL);
	vm_thread_switch(vm, self->vm_thread);
	return thread;
}

int64_t thread_start(struct linux_process *process,
		     const struct clone_request *request)
{
	const struct linux_observer *observer = process->observer;
	struct linux_thread *thread;
	int rc;

	if (linux_has_signal(process))
		return -RESTART_ALWAYS;
	thread = make_thread(process, request);
	if (!thread)
		return -ENOMEM;
	rc = start_host_thread(thread);
	if (rc) {
		vm_thread_destroy(process->vm, thread->vm_thread);
		free(thread);
		process->next_index--;
		return rc;
	}
	thread->next = process->threads;
	process->threads = thread;
	process->thread_count++;
	vm_limit_pauses(process->vm, PAUSES_MOST);
	if (request->flags & CLONE_PARENT_SETTID)
		copy_out(process, request->parent_tid, &thread->tid,
			 sizeof(thread->tid));
	if (request->flags & CLONE_CHILD_SETTID)
		copy_out(process, request->child_tid, &thread->tid,
			 sizeof(thread->tid));
	if (observer && observer->thread_begins)
		observer->thread_begins(observer->context, thread->index,
					thread->tid, thread->vm_thread);
	scheduler_start(process, thread);
	return thread->tid;
}

void threads_forget_others(struct linux_process *process)
{
	struct linux_thread *self = process->thread;
	struct linux_thread *thread = process->threads;

	process->threads = self;
	process->thread_count = 1;
	while (thread) {
		struct linux_thread *next = thread->next;

		if (thread != self) {
			vm_thread_destroy(process->vm, thread->vm_thread);
			free(thread);
		}
		thread = next;
	}
	self->next = NULL;
}

void threads_let_go(struct linux_process *process)
{
	for (struct linux_thread *at = process->threads; at; at = at->next)
		futex_thread_ends(process, at, true);
}

void threads_end_others(struct linux_process *process)
{
	for (struct linux_thread *at = process->threads; at; at = at->next) {
		if (at == process->thread)
			continue;
		at->must_end = true;
		scheduler_wake(process, at);
		signals_kick(at);
	}
	process->tasks->succeeds = !is_leader();
	while (process->thread_count > 1) {
		const struct timespec moment = { 0, 100000 };
		struct linux_thread *self = process->thread;

		scheduler_leave(process);
		syscall(SYS_nanosleep, &moment, NULL);
		scheduler_enter(self);
	}
}

/* ------- calls ------- */

/* CLONE_CHILD_CLEARTID: whoever joins the thread waits there. */
static void clear_tid(struct linux_process *process)
{
	guest_addr addr = process->thread->task->clear_tid;
	const uint32_t none = 0;

	if (addr && !copy_out(process, addr, &none, sizeof(none)))
		futex_wake(process, addr, 1, UINT32_MAX, false);
}

int64_t sys_exit_group(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	process_ends(process, LINUX_EXITED, (int)(arg[0] & 0xff));
	vfork_send_writes(process);
	vfork_release_parent(process);
	return 0;
}

int64_t sys_exit(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	struct linux_thread *self = process->thread;
	const uint64_t status[6] = { (uint64_t)process->tasks->first_status };

	if (is_leader())
		process->tasks->first_status = (int)(arg[0] & 0xff);
	if (process->thread_count == 1)
		return sys_exit_group(process, row,
				      is_leader() ? arg : status);
	futex_thread_ends(process, self, false);
	clear_tid(process);
	self->outcome = LINUX_THREAD_ENDED;
	self->status = (int)(arg[0] & 0xff);
	unlist(process, self);
	tell_end(self);
	return 0;
}

int64_t sys_set_tid_address(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	process->thread->task->clear_tid = arg[0];
	return process->thread->tid;
}

int64_t sys_set_robust_list(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	if (arg[1] != struct_size(process, S_ROBUST_LIST))
		return -EINVAL;
	process->thread->task->robust_list = arg[0];
	return 0;
}

int64_t sys_get_robust_list(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct linux_thread *thread =
		arg[0] ? thread_find(process, (int)arg[0]) : process->thread;

	(void)row;
	if (!thread)
		return -EPERM;	/* another process's */
	if (word_out(process, arg[2], struct_size(process, S_ROBUST_LIST)) ||
	    word_out(process, arg[1], thread->task->robust_list))
		return -EFAULT;
	return 0;
}

int64_t sys_sched_yield(struct linux_process *process,
			const struct linux_call *row, const uint64_t *arg)
{
	(void)arg;
	(void)row;
	if (process->thread_count > 1)
		scheduler_yield(process);
	return 0;
}
