/* SPDX-License-Identifier: GPL-2.0-or-later */
/* condition_fixed.c - waits for the condition under the lock */
#include <signal.h>

#include "race.h"

static int data;
static volatile int ready, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void producer(void)
{
	later();
	data = 7;
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void consumer(void)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	seen = data;
}

int main(void)
{
	race(producer, consumer);
	return seen != 7;
}
