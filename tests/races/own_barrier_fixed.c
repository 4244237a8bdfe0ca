/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_barrier_fixed.c - both threads wait at the same barrier */
#include "race.h"

static int value;
static volatile int seen;
static pthread_barrier_t barrier;

static void writer(void)
{
	value = 3;
	pthread_barrier_wait(&barrier);
}

static void reader(void)
{
	pthread_barrier_wait(&barrier);
	seen = value;
}

int main(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	race(writer, reader);
	return seen != 3;
}
