/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedule.h - how long slices are, and who is next
 *
 * All is drawn from scheduler->random.  A schedule is random or not, as
 * scheduler->options say; what is called "random" here is not for another.
 *
 * Units:      lengths are steps; `now` is those of all threads until now.
 */
#ifndef CPREC_VM_LINUX_TASKS_SCHEDULE_H
#define CPREC_VM_LINUX_TASKS_SCHEDULE_H

#include <stdint.h>

struct linux_thread;
struct scheduler;

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
