/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counter_fixed.c - a counter under a mutex */
#include "race.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
}

int main(void)
{
	race(count, count);
	return counter != 20;
}
