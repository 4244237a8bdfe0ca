/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_barrier_racy.c - each thread waits at a barrier of its own */
#include "race.h"

static int value;
static volatile int seen;
static pthread_barrier_t barriers[2];

static void writer(void)
{
	value = 3;	/* RACE:a */
	pthread_barrier_wait(&barriers[0]);
}

static void reader(void)
{
	pthread_barrier_wait(&barriers[1]);
	seen = value;	/* RACE:a */
}

int main(void)
{
	pthread_barrier_init(&barriers[0], NULL, 1);
	pthread_barrier_init(&barriers[1], NULL, 1);
	race(writer, reader);
	return seen != 0 && seen != 3;
}
