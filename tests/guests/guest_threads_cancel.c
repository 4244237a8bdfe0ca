/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_cancel.c - threads that others end */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "tests/guests/guest_threads.h"

static int ready, asked, cleaned, went_on;
static int pipe_ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;

static void clean(void *argument)
{
	add(&cleaned, (int)(intptr_t)argument);
}

static void unlock(void *argument)
{
	pthread_mutex_unlock(argument);
	add(&cleaned, 1);
}

static void *in_read(void *argument)
{
	char byte;

	pthread_cleanup_push(clean, argument);
	store(&ready, 1);
	while (read(pipe_ends[0], &byte, 1) < 0)
		continue;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_sleep(void *argument)
{
	pthread_cleanup_push(clean, argument);
	pthread_cleanup_push(clean, (void *)10);
	store(&ready, 1);
	for (;;)
		sleep(1000);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_condition(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	store(&ready, 1);
	for (;;)
		pthread_cond_wait(&never, &lock);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_semaphore(void *argument)
{
	pthread_cleanup_push(clean, argument);
	store(&ready, 1);
	sem_wait(&empty);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_poll(void *argument)
{
	struct pollfd what = { pipe_ends[0], POLLIN, 0 };

	pthread_cleanup_push(clean, argument);
	store(&ready, 1);
	poll(&what, 1, -1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_join(void *argument)
{
	pthread_cleanup_push(clean, argument);
	pthread_t other = start(in_semaphore, (void *)100);

	await(&ready, 1);
	pthread_detach(pthread_self());
	pthread_cancel(other);
	join(other);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *at_test(void *argument)
{
	pthread_cleanup_push(clean, argument);
	store(&ready, 1);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *anywhere(void *argument)
{
	volatile unsigned long spins = 0;
	int old;

	pthread_cleanup_push(clean, argument);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	store(&ready, 1);
	while (++spins)
		;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *unwilling(void *argument)
{
	int old;

	pthread_cleanup_push(clean, argument);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	store(&ready, 1);
	while (!load(&asked))
		sleep_for(1);
	pthread_testcancel();
	add(&went_on, 1);
	pthread_setcancelstate(old, NULL);
	pthread_testcancel();
	add(&went_on, 100);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *before_start(void *argument)
{
	pthread_cleanup_push(clean, argument);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

/* Cancels `routine` where it waits; its handlers must add up to `sum`. */
static void cancel(void *(*routine)(void *), int sum)
{
	pthread_t thread;

	store(&ready, 0);
	store(&asked, 0);
	store(&cleaned, 0);
	thread = start(routine, (void *)1);
	await(&ready, 1);
	sleep_for(10);
	CHECK(!pthread_cancel(thread));
	store(&asked, 1);
	CHECK(join(thread) == PTHREAD_CANCELED);
	CHECK(load(&cleaned) == sum);
}

static void test_early(void)
{
	pthread_t thread;

	store(&cleaned, 0);
	pthread_mutex_lock(&lock);
	thread = start(before_start, (void *)7);
	CHECK(!pthread_cancel(thread));
	pthread_mutex_unlock(&lock);
	CHECK(join(thread) == PTHREAD_CANCELED);
	/* glibc may end it before its first instruction, or later. */
	CHECK(load(&cleaned) == 7 || load(&cleaned) == 0);
}

static void *cancel_self(void *argument)
{
	pthread_cleanup_push(clean, argument);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_others(void)
{
	pthread_t thread;

	store(&cleaned, 0);
	CHECK(join(start(cancel_self, (void *)3)) == PTHREAD_CANCELED);
	CHECK(load(&cleaned) == 3);

	store(&ready, 0);
	store(&cleaned, 0);
	thread = start(in_join, (void *)1000);
	(void)thread;
	while (load(&cleaned) != 1100)
		sleep_for(1);
	CHECK(load(&ready) == 1);
}

/* Many at once, each where it happens to be. */
static void test_many(void)
{
	pthread_t threads[40];

	store(&cleaned, 0);
	for (int i = 0; i < 40; i++)
		threads[i] = start(i % 2 ? in_semaphore : in_read, (void *)1);
	sleep_for(30);
	for (int i = 0; i < 40; i++)
		CHECK(!pthread_cancel(threads[i]));
	for (int i = 0; i < 40; i++)
		CHECK(join(threads[i]) == PTHREAD_CANCELED);
	CHECK(load(&cleaned) == 40);
}

int main(void)
{
	guest_watchdog(100);
	CHECK(!pipe(pipe_ends));
	sem_init(&empty, 0, 0);
	cancel(in_read, 1);
	cancel(in_sleep, 11);
	cancel(in_condition, 1);
	cancel(in_semaphore, 1);
	cancel(in_poll, 1);
	cancel(at_test, 1);
	cancel(anywhere, 1);
	cancel(unwilling, 1);
	CHECK(load(&went_on) == 1);
	CHECK(!pthread_mutex_trylock(&lock));
	pthread_mutex_unlock(&lock);
	test_early();
	test_others();
	test_many();
	return guest_end();
}
