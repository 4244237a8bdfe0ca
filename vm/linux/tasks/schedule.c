/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedule.c - how long slices are, and which thread is next
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
 * their maker does not go on.  All is drawn from one seed, in an order that
 * only the guest's own doings decide.
 *
 * Source: rr's chaos mode (R. O'Callahan, "Introducing rr chaos mode").
 */
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks_internal.h"

/* About a millisecond.  Shorter slices cost switches, longer ones delay. */
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
void schedule_first(struct scheduler *scheduler)
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
uint64_t schedule_length(struct scheduler *scheduler)
{
	uint64_t most = slice_most(scheduler);

	if (!scheduler->options.random)
		return most - draw(scheduler) % (most / 8 + 1);
	return random_length(scheduler);
}

/* What has been executed since the last switch pays for it. */
void schedule_pay(struct scheduler *scheduler, uint64_t now)
{
	scheduler->debt += SWITCH_STEPS - (int64_t)(now - scheduler->paid);
	if (scheduler->debt < 0)
		scheduler->debt = 0;
	scheduler->paid = now;
}

/* Inexact slices could end before their first block, and do nothing. */
bool scheduler_is_exact(const struct linux_process *process)
{
	const struct scheduler *scheduler = &process->tasks->scheduler;

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

struct linux_thread *schedule_next(struct scheduler *scheduler, uint64_t now)
{
	struct linux_thread *best = NULL;
	bool by_priority = draw(scheduler) % 4;
	unsigned highest = 0, count = 0;

	if (draw(scheduler) % 16 == 0)
		scheduler->era = draw(scheduler);
	for (struct linux_thread *at = scheduler->ready.first; at;
	     at = at->task->behind) {
		unsigned rank = by_priority ? 1 + priority(scheduler, at) : 1;

		if (now < at->task->held_until)
			rank = 0;
		if (!best || rank > highest) {
			best = at;
			highest = rank;
			count = 1;
		} else if (rank == highest &&
			   draw(scheduler) % ++count == 0) {
			best = at;
		}
	}
	return best;
}

/* A slice may have ended long ago, while no other thread was ready. */
void schedule_start(struct scheduler *scheduler, struct linux_thread *thread,
		    uint64_t now)
{
	uint64_t chance = draw(scheduler), order = chance >> 8;

	if (scheduler->slice_end <= now)
		scheduler->slice_end = now + schedule_length(scheduler);
	if (chance % 8 < 5)
		thread->task->held_until = now + (UINT64_C(1) <<
					    (HELD_LEAST_BITS +
					     order % HELD_ORDERS));
	else if (chance % 8 == 5)
		scheduler->slice_end = now;
}
