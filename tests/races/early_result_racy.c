/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_result_racy.c - reads the result before the thread has ended */
#include "race.h"

static int result;
static volatile int seen;

static void *run(void *argument)
{
	(void)argument;
	result = 6;	/* RACE:a */
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	later();
	seen = result;	/* RACE:a */
	pthread_join(thread, NULL);
	return seen != 6;
}
