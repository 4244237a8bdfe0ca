/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.h - threads and processes of the guest, and which of them runs
 *
 * Makes and ends them, gives the one processor to one thread at a time, and
 * lets threads wait for each other (futex).  This room never runs the guest
 * itself: the driver does; and it never performs a call for another room.
 *
 * A thread that is to wait for the host leaves the processor, and enters again
 * after that; one that waits for another thread of the guest sleeps here.
 *
 * Ownership:  threads that have ended are freed by the next one that runs.
 * Errors:     negative errnos.
 * Threads:    see vm/linux/linux.h.
 */
#ifndef CPREC_VM_LINUX_TASKS_TASKS_H
#define CPREC_VM_LINUX_TASKS_TASKS_H

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"

struct linux_process;
struct linux_thread;

struct queue {
	struct linux_thread *first, *last;
};

/* Which thread has the processor, and which is next. */
struct scheduler {
	pthread_mutex_t lock;
	struct linux_thread *running;	/* NULL: nobody */
	struct queue ready;	/* wait for the processor */
	struct queue waiting;	/* wait at a futex */
	struct linux_thread *present;	/* whose registers the vm has */
	struct linux_thread *dead;	/* to be freed */
	bool one_processor;	/* of the host */
	uint64_t slice_end;	/* in steps */
	uint64_t slice_began;	/* nanoseconds of the host's clock */
	uint64_t slice_used;	/* and of the processor, by its host thread */
	volatile bool overdue;	/* by_time: the slice is over */
	struct linux_schedule options;
	uint64_t random;	/* state of the generator */
	uint64_t era;		/* of priorities */
	uint64_t pace;		/* about how long slices are now */
	unsigned pace_turns;	/* until another is drawn */
	int64_t debt;		/* steps that switches have cost */
	uint64_t paid;		/* steps that have been counted */
};

/* What the room knows of a thread. */
struct task {
	jmp_buf home;		/* where its host thread leaves it */
	guest_addr clear_tid;	/* see threads.c */
	guest_addr robust_list;

	/* Of scheduler.c and futex.c; under the scheduler's lock. */
	uint32_t turn;		/* to have the processor; see scheduler.c */
	volatile bool woken;	/* it waits no more at a futex */
	unsigned looked_in_vain;	/* for its turn; see scheduler.c */
	uint64_t held_until;	/* in steps, while others are ready */
	bool is_new;		/* has had no turn yet */
	struct linux_thread *behind;	/* in a queue */
	guest_addr futex;	/* where it waits; 0: it does not */
	uint32_t futex_bits;
};

struct tasks {
	int waited_by;		/* see vfork_pages.c; -1 if there is nobody */
	bool lends;		/* who waits shares this memory */
	int first_status;	/* of the first thread, when it ended */
	bool succeeds;		/* the present one is to become the first */
	struct linux_thread *successor;
	sem_t succession;
	struct scheduler scheduler;
};

/* ------- threads.c ------- */

/* Makes the first thread, which is the present one; ERR_NO_MEMORY. */
int tasks_init(struct linux_process *process);

/* The process ends: what other processes wait for is given free. */
void threads_let_go(struct linux_process *process);

/* Ends all other threads, for another program. */
void threads_end_others(struct linux_process *process);

/* ------- vfork_pages.c ------- */

/* Tells the parent that waits what a child of vfork() has written. */
void vfork_send_writes(struct linux_process *process);

/* Lets that parent go on. */
void vfork_release_parent(struct linux_process *process);

/* ------- vfork_calls.c ------- */

/* Tells it of a call that was performed, if that may have changed mappings. */
void vfork_tell(struct linux_process *process, const struct linux_call *row,
		const uint64_t *arg, int64_t result);

/* ------- scheduler.c ------- */

/* Gives the processor to whoever is next; takes it back when it is free. */
void scheduler_leave(struct linux_process *process);
void scheduler_enter(struct linux_thread *thread);

/* Before the present thread waits: tells the observer, if all do. */
void scheduler_idle(struct linux_process *process);

/* ------- calls ------- */

syscall_handler sys_clone;
syscall_handler sys_clone3;
syscall_handler sys_fork;
syscall_handler sys_vfork;
syscall_handler sys_futex;
syscall_handler sys_exit;
syscall_handler sys_exit_group;
syscall_handler sys_set_tid_address;
syscall_handler sys_set_robust_list;
syscall_handler sys_get_robust_list;
syscall_handler sys_sched_yield;

#endif
