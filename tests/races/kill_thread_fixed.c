/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kill_thread_fixed.c - what the sender did before the signal is ordered */
#include <signal.h>

#include "race.h"

static int counter;
static pthread_t target;
static sem_t ready, end;

static void handle(int number)
{
	(void)number;
	counter += 2;
	sem_post(&end);
}

static void *run(void *argument)
{
	(void)argument;
	sem_post(&ready);
	while (sem_wait(&end))
		continue;
	return NULL;
}

int main(void)
{
	sem_init(&ready, 0, 0);
	sem_init(&end, 0, 0);
	signal(SIGUSR1, handle);
	pthread_create(&target, NULL, run, NULL);
	sem_wait(&ready);
	counter += 1;
	pthread_kill(target, SIGUSR1);
	pthread_join(target, NULL);
	return counter != 3;
}
