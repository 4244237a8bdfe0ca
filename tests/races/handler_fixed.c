/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handler_fixed.c - a handler posts a semaphore */
#include <signal.h>

#include "race.h"

static int caught;
static volatile int seen;
static sem_t posted;

static void handle(int number)
{
	caught = number;
	sem_post(&posted);
}

static void one(void)
{
	raise(SIGUSR1);
}

static void two(void)
{
	sem_wait(&posted);
	seen = caught;
}

int main(void)
{
	sem_init(&posted, 0, 0);
	signal(SIGUSR1, handle);
	race(one, two);
	return seen != SIGUSR1;
}
