/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_futex.c - FUTEX_WAKE_OP on words that processes share, and on one that
 * they do not
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum {
	SLEEPERS = 3,
	MANY = 100,
};

static struct shared {
	int first, second;	/* somebody waits there */
	int ready, woken;
} *shared;

static int own;			/* of this process only */
static int own_woken;

static long futex(int *word, int operation, int value, long limit, int *second,
		  int third)
{
	return syscall(SYS_futex, word, operation, value, limit, second,
		       third);
}

static int operation(int code, int argument, int test, int with)
{
	return (int)((unsigned)code << 28 | (unsigned)test << 24 |
		     (unsigned)argument << 12 | (unsigned)with);
}

static void pause_for(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static void await(int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
		pause_for(1);
}

static void add(int *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
}

/* Sleeps at the word while it holds what it does now. */
static void sleep_at(int *word)
{
	int value = *word;

	add(&shared->ready);
	while (futex(word, FUTEX_WAIT, value, 0, NULL, 0) && errno == EINTR)
		;
	add(&shared->woken);
}

static void start(pid_t *children, int *word)
{
	shared->ready = shared->woken = 0;
	for (int i = 0; i < SLEEPERS; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		sleep_at(word);
		_exit(0);
	}
	await(&shared->ready, SLEEPERS);
	pause_for(100);		/* it is asleep soon after it says so */
}

static void end(pid_t *children)
{
	for (int i = 0; i < SLEEPERS; i++)
		CHECK(end_of(children[i]) == 0);
	CHECK(shared->woken == SLEEPERS);
}

/* One sleeper of the first word, and all of the second if the test holds. */
static void test_both(void)
{
	pid_t children[SLEEPERS];

	start(children, &shared->first);
	CHECK(futex(&shared->first, FUTEX_WAKE_OP, 1, MANY, &shared->second,
		    operation(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_NE, 0)) == 1);
	CHECK(shared->second == 5);
	await(&shared->woken, 1);
	CHECK(futex(&shared->second, FUTEX_WAKE_OP, MANY, MANY, &shared->first,
		    operation(FUTEX_OP_SET, 9, FUTEX_OP_CMP_EQ, 0)) ==
	      SLEEPERS - 1);
	CHECK(shared->first == 9);
	end(children);
	CHECK(futex(&shared->first, FUTEX_WAKE_OP, 1, 1, &shared->second,
		    operation(7, 0, 0, 0)) == -1 && errno == ENOSYS);
	CHECK(futex(&shared->first, FUTEX_WAKE_OP, 1, 1,
		    (int *)((char *)&shared->second + 1), 0) == -1 &&
	      errno == EINVAL);
}

static void *sleep_here(void *argument)
{
	int value = own;

	add(&own_woken);
	while (futex(&own, FUTEX_WAIT, value, 0, NULL, 0) && errno == EINTR)
		;
	add(&own_woken);
	return argument;
}

/* Sleepers of other processes at one word, a thread of this at the other. */
static void test_mixed(bool own_first)
{
	pid_t children[SLEEPERS];
	pthread_t thread;
	int sum = own + shared->first;

	start(children, &shared->first);
	own_woken = 0;
	CHECK(!pthread_create(&thread, NULL, sleep_here, NULL));
	await(&own_woken, 1);
	pause_for(100);
	CHECK(futex(own_first ? &own : &shared->first, FUTEX_WAKE_OP, MANY,
		    MANY, own_first ? &shared->first : &own,
		    operation(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GE, 0)) ==
	      SLEEPERS + 1);
	CHECK(own + shared->first == sum + 1);
	CHECK(!pthread_join(thread, NULL));
	CHECK(own_woken == 2);
	end(children);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	test_both();
	test_mixed(false);
	test_mixed(true);
	return guest_end();
}
