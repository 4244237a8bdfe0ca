/* SPDX-License-Identifier: GPL-2.0-or-later */
/* at_exit_fixed.c - a function at exit, when the thread has ended */
#include <stdlib.h>

#include "race.h"

static int counter;
static volatile int seen;

static void at_end(void)
{
	seen = counter;
}

static void *run(void *argument)
{
	(void)argument;
	counter++;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	atexit(at_end);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return 0;
}
