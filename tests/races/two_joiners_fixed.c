/* SPDX-License-Identifier: GPL-2.0-or-later */
/* two_joiners_fixed.c - two threads, one of which waits for the other's */
#include "race.h"

static int shared;
static sem_t is_made;
static pthread_t made;

static void *set(void *argument)
{
	shared++;
	return argument;
}

static void one(void)
{
	shared = 1;
	pthread_create(&made, NULL, set, NULL);
	sem_post(&is_made);
}

static void other(void)
{
	later();
	sem_wait(&is_made);
	pthread_join(made, NULL);
	shared++;
}

int main(void)
{
	sem_init(&is_made, 0, 0);
	race(one, other);
	return shared != 3;
}
