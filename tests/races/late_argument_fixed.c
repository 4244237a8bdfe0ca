/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_argument_fixed.c - sets what the thread needs before it starts */
#include "race.h"

static int setting;
static volatile int seen;

static void *run(void *argument)
{
	(void)argument;
	seen = setting;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	setting = 8;
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return seen != 8;
}
