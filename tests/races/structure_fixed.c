/* SPDX-License-Identifier: GPL-2.0-or-later */
/* structure_fixed.c - a structure is copied under a lock */
#include "race.h"

static struct large {
	long parts[8];
} from, to;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void copy(void)
{
	pthread_mutex_lock(&lock);
	to = from;
	pthread_mutex_unlock(&lock);
}

static void change(void)
{
	pthread_mutex_lock(&lock);
	from.parts[7] = 1;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(copy, change);
	return to.parts[7] != 0 && to.parts[7] != 1;
}
