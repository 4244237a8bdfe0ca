/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tiny_deadlock.c - two locks, taken at once one after the other */
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 100, WORK = 200 };

static pthread_mutex_t locks[] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static volatile long computed;

static void *lock_both(void *first)
{
	pthread_mutex_t *one = first;
	pthread_mutex_t *other = one == &locks[0] ? &locks[1] : &locks[0];

	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(one);
		pthread_mutex_lock(other);
		computed++;
		pthread_mutex_unlock(other);
		pthread_mutex_unlock(one);
		for (volatile int j = 0; j < WORK; j++)
			continue;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	printf("begins\n");
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, lock_both, &locks[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", computed);
	return 0;
}
