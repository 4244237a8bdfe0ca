/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_locked_racy.c - two write, one after the other, who may only read */
#include "race.h"

static int shared;
static volatile int seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void change(void)
{
	pthread_rwlock_rdlock(&lock);
	shared++;	/* RACE:a */
	pthread_rwlock_unlock(&lock);
}

static void change_later(void)
{
	later();
	change();
	pthread_rwlock_rdlock(&lock);
	seen = shared;	/* RACE? */
	pthread_rwlock_unlock(&lock);
}

int main(void)
{
	race(change, change_later);
	return shared == 0 || seen == 0;
}
