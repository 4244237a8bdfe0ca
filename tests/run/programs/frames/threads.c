/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - several stacks */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned total;

static __attribute__((noinline)) unsigned mix(unsigned n)
{
	return n < 2 ? 1 : mix(n - 1) * 3 + mix(n - 2);
}

static void *work(void *argument)
{
	unsigned *own = argument;

	for (unsigned i = 0; i < 8; i++) {
		char *text = malloc(30 + i);

		snprintf(text, 30, "%u", mix(*own + i % 4));
		pthread_mutex_lock(&lock);
		total += (unsigned)atoi(text);
		pthread_mutex_unlock(&lock);
		free(text);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	unsigned numbers[3] = { 5, 6, 7 };

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%u\n", total);
	return 0;
}
