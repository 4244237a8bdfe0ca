/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin.c - two threads that hand a number to and fro, and spin for it */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int turn;
static int turns;
static long sum;

static void wait_for(int wanted)
{
	while (atomic_load(&turn) != wanted)
		__builtin_ia32_pause();
}

static void *add(void *unused)
{
	for (int i = 1; i <= turns; i++) {
		wait_for(1);
		sum += i;
		atomic_store(&turn, 0);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	turns = argc > 1 ? atoi(argv[1]) : 1000;
	if (pthread_create(&thread, NULL, add, NULL))
		return 1;
	for (int i = 0; i < turns; i++) {
		wait_for(0);
		atomic_store(&turn, 1);
	}
	pthread_join(thread, NULL);
	printf("%ld\n", sum);
	return 0;
}
