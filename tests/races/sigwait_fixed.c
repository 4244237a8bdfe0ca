/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sigwait_fixed.c - one thread waits for signals, the other for it */
#include <signal.h>
#include <unistd.h>

#include "race.h"

static int data;
static volatile int seen;

static void waiter(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &number);
	data = number;
	meet();
}

static void sender(void)
{
	kill(getpid(), SIGUSR1);
	meet();
	seen = data;
}

int main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	race(waiter, sender);
	return seen != SIGUSR1;
}
