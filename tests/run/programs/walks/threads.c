/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that run one at a time: each is waited for on the line that starts
 * it. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void deposit(int amount)
{
	pthread_mutex_lock(&lock);
	shared += amount;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *argument)
{
	int number = *(int *)argument;

	for (int i = 0; i < 3; i++)
		deposit(number + i);
	return NULL;
}

static void run(int number)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, &number) == 0) pthread_join(thread, NULL);
}

int main(void)
{
	for (int i = 1; i < 4; i++) {
		run(i * 10);
		deposit(-i);
	}
	printf("%d\n", shared);
	return 0;
}
