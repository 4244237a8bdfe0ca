/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rwlock_fixed.c - reads with others, writes alone */
#include "race.h"

static int shared;
static volatile int seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void change(void)
{
	pthread_rwlock_rdlock(&lock);
	meet();
	if (shared > 5)
		seen = 1;
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_wrlock(&lock);
	shared++;
	pthread_rwlock_unlock(&lock);
}

int main(void)
{
	race(change, change);
	return shared != 2;
}
