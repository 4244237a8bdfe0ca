/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race.h - what the programs with planted races have in common
 *
 * NAME_racy.c has a race, NAME_fixed.c is the same program without it.  In
 * each recording of the first, both accesses happen and nothing orders them,
 * whoever comes first: threads meet before they race, and what looks as if it
 * came later has only slept, which orders nothing.
 *
 * The comment RACE:a marks the lines of race "a": two lines that race with
 * each other, or one that races with itself.  RACE? marks a line that races
 * with some marked line or other, depending on who comes first.
 */
#ifndef CPREC_TESTS_RACES_RACE_H
#define CPREC_TESTS_RACES_RACE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static pthread_barrier_t race_line;

/* Both threads of race() are here before either goes on. */
static inline void meet(void)
{
	pthread_barrier_wait(&race_line);
}

struct racer {
	void (*routine)(void);
	pthread_t thread;
};

static void *race_thread(void *racer)
{
	meet();
	((struct racer *)racer)->routine();
	return NULL;
}

/* Runs both at the same time, and waits for their ends. */
static inline void race(void (*one)(void), void (*two)(void))
{
	struct racer racers[2] = { { one, 0 }, { two, 0 } };

	pthread_barrier_init(&race_line, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&racers[i].thread, NULL, race_thread,
			       &racers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(racers[i].thread, NULL);
}

/* Most likely after all that others do, but not ordered after it. */
static inline void later(void)
{
	struct timespec left = { 0, 100000000 };

	while (nanosleep(&left, &left))
		continue;
}

#endif
