/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns_fixed.c - looks whose turn it is with the lock */
#include "race.h"

static volatile int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void first(void)
{
	pthread_mutex_lock(&lock);
	turn = 1;
	pthread_mutex_unlock(&lock);
}

static void second(void)
{
	int now = 0;

	while (now != 1) {
		pthread_mutex_lock(&lock);
		now = turn;
		pthread_mutex_unlock(&lock);
	}
}

int main(void)
{
	race(first, second);
	return turn != 1;
}
