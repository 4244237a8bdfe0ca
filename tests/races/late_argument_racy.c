/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_argument_racy.c - sets what the thread needs after it was started */
#include "race.h"

static int setting;
static volatile int seen;

static void *run(void *argument)
{
	(void)argument;
	seen = setting;	/* RACE:a */
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	setting = 8;	/* RACE:a */
	pthread_join(thread, NULL);
	return seen != 0 && seen != 8;
}
