/* SPDX-License-Identifier: GPL-2.0-or-later */
/* two_locks_fixed.c - two locks, taken in one order */
#include "race.h"

static int shared;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

static void one(void)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	shared += 1;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
}

static void two(void)
{
	pthread_mutex_lock(&second);
	shared += 2;
	pthread_mutex_unlock(&second);
}

int main(void)
{
	race(one, two);
	return shared != 3;
}
