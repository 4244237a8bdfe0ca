/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trylock_fixed.c - tries until it has the lock */
#include "race.h"

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void change(void)
{
	while (pthread_mutex_trylock(&lock))
		later();
	shared++;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(change, change);
	return shared != 2;
}
