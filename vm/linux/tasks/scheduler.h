/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler.h - which thread of the guest has the processor
 *
 * Who wants to wait for the host leaves, and enters again when that is over;
 * who waits for another thread of the guest sleeps here.  How long turns are,
 * and who is next, schedule.h says.
 *
 * Ownership:  the scheduler is part of its process; threads that have ended
 *             are freed by the next one that runs.
 * Threads:    see vm/linux/linux.h.
 */
#ifndef CPREC_VM_LINUX_TASKS_SCHEDULER_H
#define CPREC_VM_LINUX_TASKS_SCHEDULER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "formats/region.h"
#include "vm/linux/linux.h"

struct linux_thread;

struct queue {
	struct linux_thread *first, *last;
};

/* Who has the processor, and who is next. */
struct scheduler {
	pthread_mutex_t lock;
	struct linux_thread *running;	/* NULL: nobody */
	struct queue ready;	/* wait for the processor */
	struct queue waiting;	/* wait at a futex */
	struct linux_thread *present;	/* whose registers the vm has */
	struct linux_thread *dead;	/* to be freed */
	bool one_processor;	/* of the host */
	uint64_t slice_end;	/* in steps */
	volatile bool overdue;	/* by_time: the slice is over */
	struct linux_schedule options;
	uint64_t random;	/* state of the generator */
	uint64_t era;		/* of priorities */
	uint64_t pace;		/* about how long slices are now */
	unsigned pace_turns;	/* until another is drawn */
	int64_t debt;		/* steps that switches have cost */
	uint64_t paid;		/* steps that have been counted */
};

void scheduler_init(struct linux_process *process);

/* In the child of a fork: the thread that has the processor is alone. */
void scheduler_alone(struct linux_process *process);

/* Whether slices end exactly, not at the end of a block. */
bool scheduler_is_exact(const struct linux_process *process);

/* Gives the processor to whoever is next. */
void scheduler_leave(struct linux_process *process);

/*
 * Waits for the processor, standing in the queue already or going there;
 * called by the thread's own host thread.
 */
void scheduler_take(struct linux_thread *thread);
void scheduler_enter(struct linux_thread *thread);

/* Both: goes behind those that are ready. */
void scheduler_yield(struct linux_process *process);

/* Before the present thread waits: tells the observer, if all do. */
void scheduler_idle(struct linux_process *process);

/* It waits for the processor. */
void scheduler_add(struct linux_process *process,
		   struct linux_thread *thread);

/* The same for a new one, which the present thread has made. */
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

#endif
