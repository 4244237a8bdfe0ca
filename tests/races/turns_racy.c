/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns_racy.c - looks whose turn it is without the lock */
#include "race.h"

static volatile int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void first(void)
{
	pthread_mutex_lock(&lock);
	turn = 1;	/* RACE:a */
	pthread_mutex_unlock(&lock);
}

static void second(void)
{
	while (turn != 1)	/* RACE:a */
		continue;
}

int main(void)
{
	race(first, second);
	return turn != 1;
}
