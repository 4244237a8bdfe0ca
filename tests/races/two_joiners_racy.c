/* SPDX-License-Identifier: GPL-2.0-or-later */
/* two_joiners_racy.c - two threads that both wait for a thread of their own */
#include "race.h"

static int shared;

static void *nothing(void *argument)
{
	return argument;
}

static void wait_for_one(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
}

static void one(void)
{
	shared = 1;	/* RACE:a */
	wait_for_one();
}

static void other(void)
{
	later();
	wait_for_one();
	shared = 2;	/* RACE:a */
}

int main(void)
{
	race(one, other);
	return !shared;
}
