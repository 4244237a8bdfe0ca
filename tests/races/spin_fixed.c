/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin_fixed.c - both threads take the spin lock */
#include "race.h"

static pthread_spinlock_t lock;
static int counter;

static void locked(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_spin_lock(&lock);
		counter++;
		pthread_spin_unlock(&lock);
	}
}

int main(void)
{
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	race(locked, locked);
	return counter != 20;
}
