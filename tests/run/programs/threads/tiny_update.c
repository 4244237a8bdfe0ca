/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tiny_update.c - a planted error of three instructions in a short program */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, TIMES = 1000 };

static volatile long counter;

static void *count(void *argument)
{
	(void)argument;
	for (int i = 0; i < TIMES; i++) {
		long value = counter;

		__asm__("" : "+r"(value));	/* not one instruction */
		counter = value + 1;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %d\n", counter, THREADS * TIMES);
	return counter != THREADS * TIMES;
}
