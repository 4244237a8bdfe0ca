/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler.c - which thread of the guest has the processor
 *
 * The guest has one processor, which its threads use in turns.  A thread
 * keeps it until it waits for something, or until its slice is over and
 * others are ready.  Threads that are ready stand in a queue, each with its
 * host thread asleep; who gives the processor away wakes the next.
 *
 * With a random schedule, a pace is drawn for some turns at a time: how long
 * their slices are about, from some instructions to the usual.  Errors that
 * need several switches close to each other take many short slices in a row,
 * others a long one at the right time.  Switches cost much more than steps, so
 * short slices are paid for: by what is granted at the start, so that programs
 * of few steps may have short ones only, and by the steps of long ones.
 *
 * The next is drawn among the ready: mostly among those of the highest
 * priority, which is drawn too, so that some threads do not run for a long
 * time.  Many threads live shorter than it takes to make the next: some new
 * ones are held back for a while, so that they meet, and before some others
 * their maker does not go on.  All is drawn from one seed, in an order that only the guest's own
 * doings decide.
 *
 * Source: rr's chaos mode (R. O'Callahan, "Introducing rr chaos mode").
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/process.h"

#define SLICE_STEPS UINT64_C(1000000)
#define PACE_LEAST_BITS 5	/* the shortest slices: 32 steps */
#define FIRST_LEAST_BITS 3	/* of a thread that is new: 8 steps */
#define FIRST_PACES 5		/* to 128 */
#define PACE_TURNS 64		/* at most, until another pace is drawn */
#define SWITCH_STEPS 50000	/* what could be executed instead */
#define SWITCHES_GRANTED 1000
#define SHORT_SLICE 10000	/* some blocks have 512 */
#define HELD_LEAST_BITS 8	/* a new thread, while others run: 256 steps */
#define HELD_ORDERS 12		/* to half a million */
#define SLICE_TIME 2000000	/* nanoseconds, where nobody counts steps */
#define LOOKS 2000		/* some 50 to 100 microseconds */
#define VAIN_MOST 4		/* times that a thread looks in vain */
#define VAIN_REST 32		/* times that it does not look after that */

/* ------- queues ------- */

static void queue_append(struct queue *queue, struct linux_thread *thread)
{
	thread->behind = NULL;
	if (queue->last)
		queue->last->behind = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

static bool queue_remove(struct queue *queue, struct linux_thread *thread)
{
	struct linux_thread *before = NULL, *at = queue->first;

	while (at && at != thread) {
		before = at;
		at = at->behind;
	}
	if (!at)
		return false;
	if (before)
		before->behind = at->behind;
	else
		queue->first = at->behind;
	if (queue->last == at)
		queue->last = before;
	return true;
}

/* ------- chance ------- */

/* SplitMix64 (S. Vigna). */
static uint64_t draw(struct scheduler *scheduler)
{
	uint64_t z = scheduler->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t slice_most(const struct scheduler *scheduler)
{
	uint64_t steps = scheduler->options.slice_steps;

	return steps ? steps : SLICE_STEPS;
}

/*
 * All orders of magnitude are drawn, the shorter of two each time, while they
 * can be paid for.
 */
static void draw_pace(struct scheduler *scheduler)
{
	uint64_t most = slice_most(scheduler), one, other;
	unsigned bits = 0, range;

	while (bits < 62 && most >> (bits + 1))
		bits++;
	scheduler->pace = most;
	scheduler->pace_turns = 1;
	if (scheduler->debt > (int64_t)SWITCHES_GRANTED * SWITCH_STEPS)
		return;
	range = bits > PACE_LEAST_BITS ? bits - PACE_LEAST_BITS + 1 : 1;
	one = draw(scheduler) % range;
	other = draw(scheduler) % range;
	scheduler->pace = UINT64_C(1) << (PACE_LEAST_BITS +
					  (one < other ? one : other));
	scheduler->pace_turns = 1 + (unsigned)(draw(scheduler) % PACE_TURNS);
}

/* The first turns of a thread, which may not have many. */
static void draw_first_pace(struct scheduler *scheduler)
{
	uint64_t chance = draw(scheduler);

	if (chance % 4 == 0 ||
	    scheduler->debt > (int64_t)SWITCHES_GRANTED * SWITCH_STEPS)
		return;
	scheduler->pace = UINT64_C(1) << (FIRST_LEAST_BITS +
					  (chance >> 8) % FIRST_PACES);
	scheduler->pace_turns = 1 + (unsigned)(draw(scheduler) % PACE_TURNS);
}

static uint64_t random_length(struct scheduler *scheduler)
{
	uint64_t most = slice_most(scheduler), length;

	if (!scheduler->pace_turns)
		draw_pace(scheduler);
	scheduler->pace_turns--;
	length = 1 + draw(scheduler) % (2 * scheduler->pace);
	return length < most ? length : most;
}

/*
 * Slices of one length could end at the same place of a loop for ever, while
 * a lock is held.
 */
static uint64_t slice_length(struct scheduler *scheduler)
{
	uint64_t most = slice_most(scheduler);

	if (!scheduler->options.random)
		return most - draw(scheduler) % (most / 8 + 1);
	return random_length(scheduler);
}

/* What has been executed since the last switch pays for it. */
static void pay(struct scheduler *scheduler, uint64_t now)
{
	scheduler->debt += SWITCH_STEPS - (int64_t)(now - scheduler->paid);
	if (scheduler->debt < 0)
		scheduler->debt = 0;
	scheduler->paid = now;
}

/* A slice that ends before the first block would be none. */
bool scheduler_is_exact(const struct linux_process *process)
{
	const struct scheduler *scheduler = &process->scheduler;

	return scheduler->options.random ||
	       slice_most(scheduler) < SHORT_SLICE;
}

/* Drawn anew in each era. */
static unsigned priority(const struct scheduler *scheduler,
			 const struct linux_thread *thread)
{
	uint64_t z = (scheduler->era + thread->index) *
		     UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)((z ^ z >> 29) >> 7) % 4;
}

static struct linux_thread *draw_next(struct scheduler *scheduler,
				      uint64_t steps)
{
	struct linux_thread *best = NULL;
	bool by_priority = draw(scheduler) % 4;
	unsigned highest = 0, count = 0;

	if (draw(scheduler) % 16 == 0)
		scheduler->era = draw(scheduler);
	for (struct linux_thread *at = scheduler->ready.first; at;
	     at = at->behind) {
		unsigned now = by_priority ? 1 + priority(scheduler, at) : 1;

		if (steps < at->held_until)
			now = 0;
		if (!best || now > highest) {
			best = at;
			highest = now;
			count = 1;
		} else if (now == highest &&
			   draw(scheduler) % ++count == 0) {
			best = at;
		}
	}
	return best;
}

/* ------- the processor ------- */

/* Values of `turn`: what a thread has, and whether its host thread sleeps. */
enum { TURN_NOT, TURN_HAS, TURN_ASLEEP };

static void grant(struct linux_thread *thread)
{
	if (__atomic_exchange_n(&thread->turn, TURN_HAS, __ATOMIC_ACQ_REL) ==
	    TURN_ASLEEP)
		syscall(SYS_futex, &thread->turn, FUTEX_WAKE_PRIVATE, 1);
}

/* Lets a host thread look, which sleeps: it is to say when it is overdue. */
static void stir(struct linux_thread *thread)
{
	uint32_t asleep = TURN_ASLEEP;

	if (__atomic_compare_exchange_n(&thread->turn, &asleep, TURN_NOT,
					false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		syscall(SYS_futex, &thread->turn, FUTEX_WAKE_PRIVATE, 1);
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
 * With the lock.  Returns who is to be granted the processor, without it: who
 * is woken needs the lock soon.
 */
static struct linux_thread *pass_on(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;
	struct linux_thread *next = scheduler->ready.first;

	if (next && scheduler->options.random)
		next = draw_next(scheduler, vm_steps(process->vm));
	if (next)
		queue_remove(&scheduler->ready, next);
	scheduler->running = next;
	return next;
}

static bool has_turn(const struct linux_thread *thread)
{
	return __atomic_load_n(&thread->turn, __ATOMIC_ACQUIRE) == TURN_HAS;
}

/*
 * Threads that hand something to and fro get their turns back at once: to
 * look for that some microseconds costs less than to sleep and be woken.  Who
 * has looked in vain several times does not look for a while.
 */
static void look_for_turn(struct linux_thread *thread)
{
	if (thread->process->scheduler.one_processor)
		return;
	if (thread->looked_in_vain >= VAIN_MOST) {
		if (++thread->looked_in_vain == VAIN_MOST + VAIN_REST)
			thread->looked_in_vain = VAIN_MOST - 1;
		return;
	}
	for (int i = 0; i < LOOKS; i++) {
		if (has_turn(thread)) {
			thread->looked_in_vain = 0;
			return;
		}
		__builtin_ia32_pause();
	}
	thread->looked_in_vain++;
}

/* Says that the host thread is about to sleep, unless it has its turn. */
static void fall_asleep(struct linux_thread *thread)
{
	uint32_t not = TURN_NOT;

	__atomic_compare_exchange_n(&thread->turn, &not, TURN_ASLEEP, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Where time makes slices, who waits too long says so. */
static void wait_turn(struct linux_thread *thread)
{
	struct linux_process *process = thread->process;
	bool by_time = process->scheduler.options.by_time;
	const struct timespec slice = { 0, SLICE_TIME };

	look_for_turn(thread);
	while (!has_turn(thread)) {
		long rc;

		fall_asleep(thread);
		rc = syscall(SYS_futex, &thread->turn, FUTEX_WAIT_PRIVATE,
			     TURN_ASLEEP, by_time ? &slice : NULL);

		if (rc && errno == ETIMEDOUT) {
			process->scheduler.overdue = true;
			vm_interrupt(process->vm);
		}
	}
}

static void free_dead(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;

	while (scheduler->dead) {
		struct linux_thread *thread = scheduler->dead;

		scheduler->dead = thread->next;
		vm_thread_destroy(process->vm, thread->vm_thread);
		free(thread);
	}
}

/* The thread has got the processor: makes it the present one. */
static void take(struct linux_thread *thread)
{
	struct linux_process *process = thread->process;
	struct scheduler *scheduler = &process->scheduler;
	const struct linux_observer *observer = process->observer;

	process->thread = thread;
	scheduler->overdue = false;
	if (thread->must_end)
		thread_vanish(thread);
	pay(scheduler, vm_steps(process->vm));
	if (thread->is_new && scheduler->options.random)
		draw_first_pace(scheduler);
	thread->is_new = false;
	scheduler->slice_end = vm_steps(process->vm) +
			       slice_length(scheduler);
	if (scheduler->present != thread) {
		vm_thread_switch(process->vm, thread->vm_thread);
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

void scheduler_init(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;

	pthread_mutex_init(&scheduler->lock, NULL);
	scheduler->running = process->thread;
	scheduler->present = process->thread;
	scheduler->one_processor = sysconf(_SC_NPROCESSORS_ONLN) < 2;
}

void scheduler_alone(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;

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
	pthread_mutex_lock(&process->scheduler.lock);
	others = process->scheduler.ready.first;
	pthread_mutex_unlock(&process->scheduler.lock);
	if (!others)
		observer->idle(observer->context);
}

void scheduler_leave(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;
	struct linux_thread *next;

	scheduler_idle(process);
	pthread_mutex_lock(&scheduler->lock);
	process->thread->turn = TURN_NOT;
	next = pass_on(process);
	pthread_mutex_unlock(&scheduler->lock);
	if (next)
		grant(next);
}

void scheduler_add(struct linux_process *process,
		   struct linux_thread *thread)
{
	bool is_next;

	pthread_mutex_lock(&process->scheduler.lock);
	is_next = make_ready(&process->scheduler, thread);
	pthread_mutex_unlock(&process->scheduler.lock);
	if (is_next)
		grant(thread);
}

/* A slice that is over was no matter while nobody else was ready. */
static void draw_start(struct scheduler *scheduler,
		       struct linux_thread *thread, uint64_t now)
{
	uint64_t chance = draw(scheduler), order = chance >> 8;

	if (scheduler->slice_end <= now)
		scheduler->slice_end = now + slice_length(scheduler);
	if (chance % 8 < 5)
		thread->held_until = now + (UINT64_C(1) <<
					    (HELD_LEAST_BITS +
					     order % HELD_ORDERS));
	else if (chance % 8 == 5)
		scheduler->slice_end = now;
}

void scheduler_start(struct linux_process *process,
		     struct linux_thread *thread)
{
	struct scheduler *scheduler = &process->scheduler;

	thread->is_new = true;
	if (scheduler->options.random)
		draw_start(scheduler, thread, vm_steps(process->vm));
	scheduler_add(process, thread);
}

void scheduler_take(struct linux_thread *thread)
{
	wait_turn(thread);
	take(thread);
}

void scheduler_enter(struct linux_thread *thread)
{
	scheduler_add(thread->process, thread);
	scheduler_take(thread);
}

void scheduler_yield(struct linux_process *process)
{
	struct scheduler *scheduler = &process->scheduler;
	struct linux_thread *self = process->thread, *next = NULL;

	pthread_mutex_lock(&scheduler->lock);
	if (scheduler->ready.first) {
		self->turn = TURN_NOT;
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
	struct scheduler *scheduler = &process->scheduler;
	bool waited, is_next = false;

	pthread_mutex_lock(&scheduler->lock);
	waited = queue_remove(&scheduler->waiting, thread);
	if (waited) {
		thread->woken = true;
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
	struct scheduler *scheduler = &process->scheduler;
	struct linux_thread *at;

	pthread_mutex_lock(&scheduler->lock);
	at = scheduler->waiting.first;
	while (at && (at->futex != addr || !(at->futex_bits & bits)))
		at = at->behind;
	pthread_mutex_unlock(&scheduler->lock);
	return at;
}

int64_t scheduler_requeue(struct linux_process *process, guest_addr from,
			  guest_addr to, int count)
{
	struct scheduler *scheduler = &process->scheduler;
	int64_t moved = 0;

	pthread_mutex_lock(&scheduler->lock);
	for (struct linux_thread *at = scheduler->waiting.first;
	     at && moved < count; at = at->behind) {
		if (at->futex != from)
			continue;
		at->futex = to;
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
	const uint64_t arg[6] = { host_pointer(&self->turn),
				  (uint64_t)command, TURN_ASLEEP,
				  host_pointer(limit), 0,
				  FUTEX_BITSET_MATCH_ANY };
	int64_t result = 0;

	pthread_mutex_lock(&process->scheduler.lock);
	self->woken = false;
	queue_append(&process->scheduler.waiting, self);
	pthread_mutex_unlock(&process->scheduler.lock);
	scheduler_leave(process);
	look_for_turn(self);
	while (!has_turn(self)) {
		fall_asleep(self);
		result = self->woken ? 0 : host_call_for(self, SYS_futex, arg);
		if (self->woken)
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
