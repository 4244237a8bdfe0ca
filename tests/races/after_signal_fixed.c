/* SPDX-License-Identifier: GPL-2.0-or-later */
/* after_signal_fixed.c - says that all is written when it is */
#include "race.h"

static int data;
static volatile int ready, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void producer(void)
{
	pthread_mutex_lock(&lock);
	data = 7;
	ready = 1;
	pthread_mutex_unlock(&lock);
	pthread_cond_broadcast(&changed);
}

static void consumer(void)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	seen = data;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(producer, consumer);
	return seen != 7;
}
