/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls in threads, for calls.py. */
#include <pthread.h>

#define OWN __attribute__((noinline, noclone, noipa))

OWN static int fib(int n, int thread)
{
	return n < 2 ? n : fib(n - 1, thread) + fib(n - 2, thread);
}

OWN static void leaves(int n, int thread)
{
	if (n)
		leaves(n - 1, thread);
	else
		pthread_exit(NULL);
}

static void *run(void *number)
{
	int thread = (int)(long)number;

	for (int i = 0; i < 6; i++)
		fib(6 + thread, thread);
	leaves(2, thread);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
