/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks_internal.h - the files of tasks/, for each other */
#ifndef CPREC_VM_LINUX_TASKS_TASKS_INTERNAL_H
#define CPREC_VM_LINUX_TASKS_TASKS_INTERNAL_H

#include <time.h>

#include "vm/linux/tasks/tasks.h"

/* ------- threads.c ------- */

/* What clone() is asked for. */
struct clone_request {
	uint64_t flags;		/* CLONE_... */
	guest_addr stack;	/* the child's, 0 if it is the parent's */
	guest_addr parent_tid, child_tid, pidfd;
	uint64_t tls;		/* as the program gave it, */
	struct guest_tls thread;	/* and what that means */
};

/* Makes a thread; its number, or a negative errno. */
int64_t thread_start(struct linux_process *process,
		     const struct clone_request *request);

/*
 * The host thread of a thread that must end; gives the processor away.
 */
void thread_vanish(struct linux_thread *thread)
	__attribute__((noreturn));

/* Frees the other threads: of another process, or they have ended. */
void threads_forget_others(struct linux_process *process);

/* ------- vfork_pages.c ------- */

/*
 * Waits at a socket for a child of vfork(), and does to memory what the child
 * says, if they share it.
 */
void vfork_wait(struct linux_process *process, int fd);

/* ------- vfork_calls.c ------- */

/* A call that has changed the child's mappings. */
struct vfork_call {
	uint64_t index;		/* CALL_... */
	uint64_t arg[CALL_ARGS];
	int64_t result;
};

/* What a child of vfork() sends. */
struct vfork_message {
	uint64_t page;		/* which it has written; or VFORK_CALL */
	union {
		uint8_t bytes[GUEST_PAGE];
		struct vfork_call call;
	};
};

#define VFORK_CALL UINT64_MAX
#define VFORK_CALL_SIZE \
	(offsetof(struct vfork_message, call) + sizeof(struct vfork_call))

/* Sends the first `size` bytes of a message, and a descriptor if it is one. */
bool vfork_send(int fd, const struct vfork_message *message, size_t size,
		int passed);

/* Performs a child's call here; for a file, with this descriptor. */
void vfork_perform(struct linux_process *process,
		   const struct vfork_call *call, int fd);

/* ------- futex.c ------- */

/* Wakes at most `count` threads, of this process and of others. */
int64_t futex_wake(struct linux_process *process, guest_addr addr, int count,
		   uint32_t bits, bool is_private);

/*
 * A thread ends: the locks that it holds are given free; or only those that
 * other processes share, because the process ends.
 */
void futex_thread_ends(struct linux_process *process,
		       const struct linux_thread *thread, bool only_shared);

/* ------- scheduler.c ------- */

void scheduler_init(struct linux_process *process);

/* In the child of a fork: the thread that has the processor is alone. */
void scheduler_alone(struct linux_process *process);

/* Whether slices end exactly, not at the end of a block. */
bool scheduler_is_exact(const struct linux_process *process);

/*
 * Waits for the processor, standing in the queue already; called by the
 * thread's own host thread.
 */
void scheduler_take(struct linux_thread *thread);

/* Leaves and enters: goes behind those that are ready. */
void scheduler_yield(struct linux_process *process);

/* Whether others wait, and the present thread has had the processor for long. */
bool scheduler_is_late(const struct linux_process *process);

/* A new thread, which the present one has made, waits for the processor. */
void scheduler_start(struct linux_process *process,
		     struct linux_thread *thread);

/*
 * Puts the present thread to sleep among those that wait, until
 * scheduler_wake() is called for it; with a time limit on `clock`, if there
 * is one.  0, or -ETIMEDOUT, or what a signal makes of it.
 */
int64_t scheduler_sleep(struct linux_process *process, int clock,
			const struct timespec *limit);

/* Wakes a thread that waits, unless something else has just done it. */
bool scheduler_wake(struct linux_process *process,
		    struct linux_thread *thread);

/* The first thread that waits at `addr` for any of `bits`; NULL. */
struct linux_thread *scheduler_find(struct linux_process *process,
				    guest_addr addr, uint32_t bits);

/* Lets at most `count` that wait at `from` wait at `to`; how many. */
int64_t scheduler_requeue(struct linux_process *process, guest_addr from,
			  guest_addr to, int count);

/*
 * ------- schedule.c: how long slices are, and who is next -------
 *
 * All is drawn from scheduler->random.  A schedule is random or not, as
 * scheduler->options say; what is called "random" here is not for another.
 * Lengths are steps; `now` is those of all threads until now.
 */

/* How long the slice is to be that begins. */
uint64_t schedule_length(struct scheduler *scheduler);

/* There is a switch: what was executed since the one before pays for it. */
void schedule_pay(struct scheduler *scheduler, uint64_t now);

/* Random: which of those that are ready is next; NULL if none is. */
struct linux_thread *schedule_next(struct scheduler *scheduler, uint64_t now);

/* Random: a thread has its first slice; the present one makes a thread. */
void schedule_first(struct scheduler *scheduler);
void schedule_start(struct scheduler *scheduler, struct linux_thread *thread,
		    uint64_t now);

#endif
