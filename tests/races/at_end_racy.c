/* SPDX-License-Identifier: GPL-2.0-or-later */
/* at_end_racy.c - destructors of two threads */
#include "race.h"

static pthread_key_t key;
static int ended;

static void at_end(void *value)
{
	(void)value;
	ended++;	/* RACE:a */
}

static void *run(void *argument)
{
	pthread_setspecific(key, &ended);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	pthread_key_create(&key, at_end);
	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, run, NULL);
		later();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return ended != 2;
}
