/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relay_racy.c - the second runner hands on before the first has written */
#include "race.h"

static int baton;
static volatile int seen;
static sem_t second_may, third_may;

static void first(void)
{
	sem_post(&second_may);
	baton = 1;	/* RACE:a */
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
	seen = baton;	/* RACE:a */
}

int main(void)
{
	pthread_t thread;

	sem_init(&second_may, 0, 0);
	sem_init(&third_may, 0, 0);
	pthread_create(&thread, NULL, second, NULL);
	race(first, third);
	pthread_join(thread, NULL);
	return seen != 0 && seen != 1;
}
