/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detached_fixed.c - a detached thread says that it is done */
#include "race.h"

static int result;
static volatile int seen;
static sem_t done;

static void *run(void *argument)
{
	(void)argument;
	result = 6;
	sem_post(&done);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
	sem_wait(&done);
	seen = result;
	return seen != 6;
}
