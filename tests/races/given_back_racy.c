/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_back_racy.c - a lock of one's own is given back by one without it */
#include "race.h"

static int lock;
static int shared;

static void take(void)
{
	while (__sync_lock_test_and_set(&lock, 1))	/* RACE:lock */
		;
	shared++;				/* RACE? */
	__sync_lock_release(&lock);
	later();
	later();
}

static void meddle(void)
{
	later();
	lock = 0;				/* RACE:lock */
}

int main(void)
{
	race(take, meddle);
	return shared != 1;
}
