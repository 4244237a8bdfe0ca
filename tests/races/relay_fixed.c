/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relay_fixed.c - from the first to the third runner by way of the second */
#include "race.h"

static int baton;
static volatile int seen;
static sem_t second_may, third_may;

static void first(void)
{
	baton = 1;
	sem_post(&second_may);
}

static void *second(void *argument)
{
	(void)argument;
	sem_wait(&second_may);
	sem_post(&third_may);
	return NULL;
}

static void third(void)
{
	sem_wait(&third_may);
	seen = baton;
}

int main(void)
{
	pthread_t thread;

	sem_init(&second_may, 0, 0);
	sem_init(&third_may, 0, 0);
	pthread_create(&thread, NULL, second, NULL);
	race(first, third);
	pthread_join(thread, NULL);
	return seen != 1;
}
