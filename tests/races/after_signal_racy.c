/* SPDX-License-Identifier: GPL-2.0-or-later */
/* after_signal_racy.c - writes after it has said that all is written */
#include "race.h"

static int data;
static volatile int ready, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void producer(void)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	data = 7;	/* RACE:a */
}

static void consumer(void)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	seen = data;	/* RACE:a */
}

int main(void)
{
	race(producer, consumer);
	return seen != 0 && seen != 7;
}
