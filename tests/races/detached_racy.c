/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detached_racy.c - hopes that a detached thread is done */
#include "race.h"

static int result;
static volatile int seen;

static void *run(void *argument)
{
	(void)argument;
	pthread_detach(pthread_self());
	result = 6;	/* RACE:a */
	later();
	later();
	later();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	later();
	seen = result;	/* RACE:a */
	return seen != 6;
}
