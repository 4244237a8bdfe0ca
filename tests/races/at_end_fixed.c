/* SPDX-License-Identifier: GPL-2.0-or-later */
/* at_end_fixed.c - the last thread to end knows what the others did */
#include <stdlib.h>

#include "race.h"

static pthread_key_t key;
static int values[2];
static volatile int sum;

static void at_end(void *value)
{
	(*(int *)value)++;
}

static void *run(void *value)
{
	pthread_setspecific(key, value);
	return NULL;
}

static void at_exit(void)
{
	sum = values[0] + values[1];
	_Exit(sum != 2);
}

int main(void)
{
	pthread_t thread;

	atexit(at_exit);
	pthread_key_create(&key, at_end);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, &values[i]);
		later();
	}
	pthread_exit(NULL);
}
