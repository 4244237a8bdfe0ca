/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_threads.h - for programs with threads that check themselves
 *
 * As guest.h; a program that hangs says so.
 */
#ifndef CPREC_TESTS_GUESTS_GUEST_THREADS_H
#define CPREC_TESTS_GUESTS_GUEST_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

/* Whoever hangs dies of SIGALRM, which no other run has as its status. */
static inline void guest_watchdog(unsigned seconds)
{
	alarm(seconds);
}

static inline pthread_t start(void *(*routine)(void *), void *argument)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, routine, argument);

	if (rc) {
		printf("pthread_create: error %d\n", rc);
		exit(1);
	}
	return thread;
}

static inline void *join(pthread_t thread)
{
	void *result = NULL;
	int rc = pthread_join(thread, &result);

	if (rc) {
		printf("pthread_join: error %d\n", rc);
		exit(1);
	}
	return result;
}

/* Lets `count` threads, at most 16, perform it at once, numbered from 0. */
static inline void run_workers(int count, void *(*routine)(void *))
{
	pthread_t threads[16];

	for (intptr_t i = 0; i < count; i++)
		threads[i] = start(routine, (void *)i);
	for (int i = 0; i < count; i++)
		join(threads[i]);
}

static inline void sleep_for(long milliseconds)
{
	struct timespec left = { milliseconds / 1000,
				 milliseconds % 1000 * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}

/* This time of `clock`, and so many milliseconds; they may be negative. */
static inline struct timespec from_now(clockid_t clock, long milliseconds)
{
	struct timespec when;
	long passed;

	clock_gettime(clock, &when);
	passed = when.tv_nsec / 1000000 + milliseconds + 10000;
	when.tv_sec += passed / 1000 - 10;
	when.tv_nsec = when.tv_nsec % 1000000 + passed % 1000 * 1000000;
	return when;
}

static inline int load(int *from)
{
	return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

static inline void store(int *to, int value)
{
	__atomic_store_n(to, value, __ATOMIC_SEQ_CST);
}

static inline int add(int *to, int value)
{
	return __atomic_add_fetch(to, value, __ATOMIC_SEQ_CST);
}

/* Waits, politely, until `*flag` is at least `value`. */
static inline void await(int *flag, int value)
{
	while (load(flag) < value)
		sleep_for(1);
}

static inline pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

#endif
