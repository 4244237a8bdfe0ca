/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timer_handler_fixed.c - a timer's handler counts atomically */
#include <signal.h>
#include <sys/time.h>

#include "race.h"

static atomic_int ticks;
static volatile int seen;

static void handle(int number)
{
	(void)number;
	ticks++;
}

static void *run(void *argument)
{
	(void)argument;
	later();
	seen = ticks;
	return NULL;
}

int main(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 1000 } };
	pthread_t thread;

	signal(SIGALRM, handle);
	pthread_create(&thread, NULL, run, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	later();
	pthread_join(thread, NULL);
	return seen != 0 && seen != 1;
}
