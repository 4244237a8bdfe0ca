/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trylock_racy.c - goes on although it did not get the lock */
#include "race.h"

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void change(void)
{
	int busy = pthread_mutex_trylock(&lock);

	shared++;	/* RACE:a */
	if (!busy)
		pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_mutex_lock(&lock);
	race(change, change);
	pthread_mutex_unlock(&lock);
	return shared == 0;
}
