/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filled_fixed.c - memset() by two threads, with a lock */
#include "race.h"

#include <string.h>

static char shared[256];
static volatile size_t size = sizeof(shared);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(int value)
{
	pthread_mutex_lock(&lock);
	memset(shared, value, size);
	pthread_mutex_unlock(&lock);
}

static void one(void)
{
	fill(1);
}

static void two(void)
{
	fill(2);
}

int main(void)
{
	race(one, two);
	return shared[0] == 0;
}
