/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_result_fixed.c - reads the result when the thread has ended */
#include "race.h"

static int result;
static volatile int seen;

static void *run(void *argument)
{
	(void)argument;
	result = 6;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	later();
	pthread_join(thread, NULL);	/* which has nothing to wait for */
	seen = result;
	return seen != 6;
}
