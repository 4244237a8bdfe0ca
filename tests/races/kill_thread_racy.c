/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kill_thread_racy.c - a handler and the sender change the same counter */
#include <signal.h>

#include "race.h"

static int counter;
static pthread_t target;
static sem_t ready, end;

static void handle(int number)
{
	(void)number;
	counter += 2;	/* RACE:a */
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
	pthread_kill(target, SIGUSR1);
	counter += 1;	/* RACE:a */
	pthread_join(target, NULL);
	return counter == 0;
}
