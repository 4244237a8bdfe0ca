/* SPDX-License-Identifier: GPL-2.0-or-later */
/* condition_racy.c - looks at the condition without the lock */
#include <signal.h>

#include "race.h"

static int data;
static volatile int ready, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void producer(void)
{
	data = 7;	/* RACE:b */
	pthread_mutex_lock(&lock);
	ready = 1;	/* RACE:a */
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void consumer(void)
{
	later();
	if (!ready) {	/* RACE:a */
		pthread_mutex_lock(&lock);
		while (!ready)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	seen = data;	/* RACE:b */
}

int main(void)
{
	race(producer, consumer);
	return seen != 7;
}
