/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handler_racy.c - a handler on one thread, a reader on another */
#include <signal.h>

#include "race.h"

static int caught;
static volatile int seen;

static void handle(int number)
{
	caught = number;	/* RACE:a */
}

static void one(void)
{
	raise(SIGUSR1);
}

static void two(void)
{
	seen = caught;	/* RACE:a */
}

int main(void)
{
	signal(SIGUSR1, handle);
	race(one, two);
	return seen != 0 && seen != SIGUSR1;
}
