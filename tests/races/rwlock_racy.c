/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rwlock_racy.c - writes while it may only read */
#include "race.h"

static int shared;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void change(void)
{
	pthread_rwlock_rdlock(&lock);
	meet();
	shared++;	/* RACE:a */
	pthread_rwlock_unlock(&lock);
}

int main(void)
{
	race(change, change);
	return shared == 0;
}
