/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost_update.c - a planted error that only a rare schedule shows */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, DEPOSITS = 40, WORK = 200, WINDOW = 10 };

static volatile long balance;

/* Some steps without meaning. */
static long compute(long value, int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		value = value * 33 + i;
	return value;
}

static void *deposit(void *argument)
{
	long *last = argument;

	for (int i = 0; i < DEPOSITS; i++) {
		long before = balance;

		*last = compute(before, WINDOW);
		balance = before + 1;	/* another's deposit may be lost */
		*last += compute(before, WORK);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	long last[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, deposit, &last[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %d deposits\n", balance, THREADS * DEPOSITS);
	return balance != THREADS * DEPOSITS;
}
