/* SPDX-License-Identifier: GPL-2.0-or-later */
/* at_exit_racy.c - a function at exit reads what a thread still writes */
#include <stdlib.h>

#include "race.h"

static int counter;
static volatile int seen;

static void at_end(void)
{
	seen = counter;	/* RACE:a */
}

static void *run(void *argument)
{
	(void)argument;
	counter++;	/* RACE:a */
	later();
	later();
	later();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	atexit(at_end);
	pthread_create(&thread, NULL, run, NULL);
	later();
	return 0;
}
