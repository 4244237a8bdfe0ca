/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin_racy.c - one of two threads takes the spin lock */
#include "race.h"

static pthread_spinlock_t lock;
static int counter;

static void locked(void)
{
	pthread_spin_lock(&lock);
	counter++;	/* RACE:a */
	pthread_spin_unlock(&lock);
}

static void unlocked(void)
{
	counter++;	/* RACE:a */
}

int main(void)
{
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	race(locked, unlocked);
	return counter == 0;
}
