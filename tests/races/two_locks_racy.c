/* SPDX-License-Identifier: GPL-2.0-or-later */
/* two_locks_racy.c - each thread has a lock of its own */
#include "race.h"

static int shared;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

static void one(void)
{
	pthread_mutex_lock(&first);
	shared += 1;	/* RACE:a */
	pthread_mutex_unlock(&first);
}

static void two(void)
{
	pthread_mutex_lock(&second);
	shared += 2;	/* RACE:a */
	pthread_mutex_unlock(&second);
}

int main(void)
{
	race(one, two);
	return shared == 0;
}
