/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timer_handler_racy.c - a timer's handler on one thread, work on another */
#include <signal.h>
#include <sys/time.h>

#include "race.h"

static int ticks;
static volatile int seen;

static void handle(int number)
{
	(void)number;
	ticks++;	/* RACE:a */
}

static void *run(void *argument)
{
	(void)argument;
	later();
	seen = ticks;	/* RACE:a */
	return NULL;
}

int main(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 1000 } };
	sigset_t set;
	pthread_t thread;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	signal(SIGALRM, handle);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!ticks)
		later();
	pthread_join(thread, NULL);
	return seen != 0 && seen != 1;
}
