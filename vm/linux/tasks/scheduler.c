/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler.c - which thread of the guest has the processor
 *
 * The guest has one processor, which its threads use one at a time.  A thread
 * keeps it until it waits for something, or until its slice is over and
 * others are ready.  Threads that are ready stand in a queue, each with its
 * host thread asleep; the thread that gives the processor away wakes the next.
 *
 * schedule.c decides how long slices are, and which thread is next.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/clock.h"
#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks_internal.h"

#define SLICE_TIME 2000000	/* nanoseconds, where steps are not counted */

/*
 * Where they are counted: nanoseconds of the processor after which a slice ends
 * all the same, because its system calls take long.  A choice.  Short slices,
 * with all the code that they translate, take less: they end by steps alone.
 */
#define SLOW_TIME 5000000

/*
 * How long a host thread spins for the processor before it sleeps: 2000 PAUSE
 * instructions, some 50 to 100 microseconds, about what it costs to sleep and
 * be woken.  After 4 times in vain it sleeps at once, 32 times.  Choices.
 */
#define LOOKS 2000
#define VAIN_MOST 4
#define VAIN_REST 32

/* ------- queues ------- */

static void queue_append(struct queue *queue, struct linux_thread *thread)
{
	thread->task->behind = NULL;
	if (queue->last)
		queue->last->task->behind = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

static bool queue_remove(struct queue *queue, struct linux_thread *thread)
{
	struct linux_thread *before = NULL, *at = queue->first;

	while (at && at != thread) {
		before = at;
		at = at->task->behind;
	}
	if (!at)
		return false;
	if (before)
		before->task->behind = at->task->behind;
	else
		queue->first = at->task->behind;
	if (queue->last == at)
		queue->last = before;
	return true;
}

/* ------- the processor ------- */

/* Values of `turn`: what a thread has, and whether its host thread sleeps. */
enum { TURN_NOT, TURN_HAS, TURN_ASLEEP };

static void grant(struct linux_thread *thread)
{
	uint32_t *turn = &thread->task->turn;

	if (__atomic_exchange_n(turn, TURN_HAS, __ATOMIC_ACQ_REL) ==
	    TURN_ASLEEP)
		syscall(SYS_futex, turn, FUTEX_WAKE_PRIVATE, 1);
}

/* Lets a host thread look, which sleeps: it is to say when it is overdue. */
static void stir(struct linux_thread *thread)
{
	uint32_t asleep = TURN_ASLEEP;

	if (__atomic_compare_exchange_n(&thread->task->turn, &asleep, TURN_NOT,
					false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		syscall(SYS_futex, &thread->task->turn, FUTEX_WAKE_PRIVATE, 1);
}

/* With the lock.  True if it is to be granted the processor, without it. */
static bool make_ready(struct scheduler *scheduler,
		       struct linux_thread *thread)
{
	if (scheduler->running) {
		queue_append(&scheduler->ready, thread);
		return false;
	}
	scheduler->running = thread;
	return true;
}

/*
 * To be called with the lock.  Returns the thread that the caller must grant
 * the processor after unlocking: when woken, it needs the lock soon.
 */
static struct linux_thread *pass_on(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	struct linux_thread *next = scheduler->ready.first;

	if (next && scheduler->options.random)
		next = schedule_next(scheduler, vm_steps(process->vm));
	if (next)
		queue_remove(&scheduler->ready, next);
	scheduler->running = next;
	return next;
}

static bool has_turn(const struct linux_thread *thread)
{
	return __atomic_load_n(&thread->task->turn, __ATOMIC_ACQUIRE) ==
	       TURN_HAS;
}

/*
 * Threads that hand something to and fro get the processor back at once: to
 * spin for some microseconds costs less than to sleep and be woken.  A thread
 * that has spun in vain several times does not spin for a while.
 */
static void look_for_turn(struct linux_thread *thread)
{
	if (thread->process->tasks->scheduler.one_processor)
		return;
	if (thread->task->looked_in_vain >= VAIN_MOST) {
		if (++thread->task->looked_in_vain == VAIN_MOST + VAIN_REST)
			thread->task->looked_in_vain = VAIN_MOST - 1;
		return;
	}
	for (int i = 0; i < LOOKS; i++) {
		if (has_turn(thread)) {
			thread->task->looked_in_vain = 0;
			return;
		}
		host_pause();
	}
	thread->task->looked_in_vain++;
}

/* Says that the host thread is about to sleep, unless it has its turn. */
static void fall_asleep(struct linux_thread *thread)
{
	uint32_t not = TURN_NOT;

	__atomic_compare_exchange_n(&thread->task->turn, &not, TURN_ASLEEP,
				    false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}

/* Where slices end by time, a thread that has waited too long says so. */
static void wait_turn(struct linux_thread *thread)
{
	struct linux_process *process = thread->process;
	bool by_time = process->tasks->scheduler.options.by_time;
	const struct timespec slice = { 0, SLICE_TIME };

	look_for_turn(thread);
	while (!has_turn(thread)) {
		long rc;

		fall_asleep(thread);
		rc = syscall(SYS_futex, &thread->task->turn, FUTEX_WAIT_PRIVATE,
			     TURN_ASLEEP, by_time ? &slice : NULL);

		if (rc && errno == ETIMEDOUT) {
			process->tasks->scheduler.overdue = true;
			vm_interrupt(process->vm);
		}
	}
}

static void free_dead(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;

	while (scheduler->dead) {
		struct linux_thread *thread = scheduler->dead;

		scheduler->dead = thread->next;
		vm_thread_destroy(process->vm, thread->vm_thread);
		free(thread);
	}
}

/* For scheduler_is_late(). */
static void begin_slice(struct scheduler *scheduler)
{
	if (scheduler->options.by_time || scheduler->options.random)
		return;
	scheduler->slice_began = clock_ns(CLOCK_MONOTONIC);
	scheduler->slice_used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The thread has got the processor: makes it the present one. */
static void take(struct linux_thread *thread)
{
	struct linux_process *process = thread->process;
	struct scheduler *scheduler = &process->tasks->scheduler;
	const struct linux_observer *observer = process->observer;

	process->thread = thread;
	scheduler->overdue = false;
	if (thread->must_end)
		thread_vanish(thread);
	schedule_pay(scheduler, vm_steps(process->vm));
	if (thread->task->is_new && scheduler->options.random)
		schedule_first(scheduler);
	thread->task->is_new = false;
	scheduler->slice_end = vm_steps(process->vm) +
			       schedule_length(scheduler);
	begin_slice(scheduler);
	if (scheduler->present != thread) {
		vm_thread_switch(process->vm, thread->vm_thread);
		vm_thread_resumes(process->vm);
		scheduler->present = thread;
		free_dead(process);
		if (observer && observer->thread_runs)
			observer->thread_runs(observer->context,
					      thread->index);
	}
	/* One that came before had no guest to stop. */
	if (linux_has_signal(process))
		vm_interrupt(process->vm);
}

bool scheduler_is_late(const struct linux_process *process)
{
	const struct scheduler *scheduler = &process->tasks->scheduler;

	/*
	 * What is drawn depends on nothing but the guest.  The processor's time
	 * is the measure, which other programs do not change, but takes ten
	 * times as long to ask for.
	 */
	return !scheduler->options.random &&
	       __atomic_load_n(&scheduler->ready.first, __ATOMIC_RELAXED) &&
	       clock_ns(CLOCK_MONOTONIC) - scheduler->slice_began >
		       SLOW_TIME &&
	       clock_ns(CLOCK_THREAD_CPUTIME_ID) - scheduler->slice_used >
		       SLOW_TIME;
}

void scheduler_init(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;

	pthread_mutex_init(&scheduler->lock, NULL);
	scheduler->running = process->thread;
	scheduler->present = process->thread;
	scheduler->one_processor = sysconf(_SC_NPROCESSORS_ONLN) < 2;
	begin_slice(scheduler);
}

void scheduler_alone(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;

	scheduler->ready = scheduler->waiting = (struct queue){ 0 };
	scheduler_init(process);
	free_dead(process);
}

void scheduler_idle(struct linux_process *process)
{
	const struct linux_observer *observer = process->observer;
	bool others;

	if (!observer || !observer->idle)
		return;
	pthread_mutex_lock(&process->tasks->scheduler.lock);
	others = process->tasks->scheduler.ready.first;
	pthread_mutex_unlock(&process->tasks->scheduler.lock);
	if (!others)
		observer->idle(observer->context);
}

void scheduler_leave(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	struct linux_thread *next;

	scheduler_idle(process);
	pthread_mutex_lock(&scheduler->lock);
	process->thread->task->turn = TURN_NOT;
	next = pass_on(process);
	pthread_mutex_unlock(&scheduler->lock);
	if (next)
		grant(next);
}

/* It waits for the processor. */
static void add(struct linux_process *process, struct linux_thread *thread)
{
	bool is_next;

	pthread_mutex_lock(&process->tasks->scheduler.lock);
	is_next = make_ready(&process->tasks->scheduler, thread);
	pthread_mutex_unlock(&process->tasks->scheduler.lock);
	if (is_next)
		grant(thread);
}

void scheduler_start(struct linux_process *process,
		     struct linux_thread *thread)
{
	struct scheduler *scheduler = &process->tasks->scheduler;

	thread->task->is_new = true;
	if (scheduler->options.random)
		schedule_start(scheduler, thread, vm_steps(process->vm));
	add(process, thread);
}

void scheduler_take(struct linux_thread *thread)
{
	wait_turn(thread);
	take(thread);
}

void scheduler_enter(struct linux_thread *thread)
{
	add(thread->process, thread);
	scheduler_take(thread);
}

void scheduler_yield(struct linux_process *process)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	struct linux_thread *self = process->thread, *next = NULL;

	pthread_mutex_lock(&scheduler->lock);
	if (scheduler->ready.first) {
		self->task->turn = TURN_NOT;
		queue_append(&scheduler->ready, self);
		next = pass_on(process);
	}
	pthread_mutex_unlock(&scheduler->lock);
	if (next)
		grant(next);
	wait_turn(self);
	take(self);
}

bool scheduler_wake(struct linux_process *process,
		    struct linux_thread *thread)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	bool waited, is_next = false;

	pthread_mutex_lock(&scheduler->lock);
	waited = queue_remove(&scheduler->waiting, thread);
	if (waited) {
		thread->task->woken = true;
		is_next = make_ready(scheduler, thread);
		if (!is_next && scheduler->options.by_time)
			stir(thread);
	}
	pthread_mutex_unlock(&scheduler->lock);
	if (is_next)
		grant(thread);
	return waited;
}

struct linux_thread *scheduler_find(struct linux_process *process,
				    guest_addr addr, uint32_t bits)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	struct linux_thread *at;

	pthread_mutex_lock(&scheduler->lock);
	at = scheduler->waiting.first;
	while (at && (at->task->futex != addr ||
		      !(at->task->futex_bits & bits)))
		at = at->task->behind;
	pthread_mutex_unlock(&scheduler->lock);
	return at;
}

int64_t scheduler_requeue(struct linux_process *process, guest_addr from,
			  guest_addr to, int count)
{
	struct scheduler *scheduler = &process->tasks->scheduler;
	int64_t moved = 0;

	pthread_mutex_lock(&scheduler->lock);
	for (struct linux_thread *at = scheduler->waiting.first;
	     at && moved < count; at = at->task->behind) {
		if (at->task->futex != from)
			continue;
		at->task->futex = to;
		moved++;
	}
	pthread_mutex_unlock(&scheduler->lock);
	return moved;
}

int64_t scheduler_sleep(struct linux_process *process, int clock,
			const struct timespec *limit)
{
	struct linux_thread *self = process->thread;
	int command = FUTEX_WAIT_BITSET_PRIVATE |
		      (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
	const uint64_t arg[6] = { host_pointer(&self->task->turn),
				  (uint64_t)command, TURN_ASLEEP,
				  host_pointer(limit), 0,
				  FUTEX_BITSET_MATCH_ANY };
	int64_t result = 0;

	pthread_mutex_lock(&process->tasks->scheduler.lock);
	self->task->woken = false;
	queue_append(&process->tasks->scheduler.waiting, self);
	pthread_mutex_unlock(&process->tasks->scheduler.lock);
	scheduler_leave(process);
	look_for_turn(self);
	while (!has_turn(self)) {
		fall_asleep(self);
		result = self->task->woken ?
				 0 : host_call_for(self, SYS_futex, arg);
		if (self->task->woken)
			wait_turn(self);
		if (result == 0 || result == -EAGAIN)
			continue;
		if (!scheduler_wake(process, self))
			result = 0;	/* it was woken at the same time */
		wait_turn(self);
	}
	take(self);
	return result == -EAGAIN ? 0 : result;
}
