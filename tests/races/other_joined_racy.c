/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_joined_racy.c - waits for one thread, reads what another one wrote */
#include "race.h"

static int result;
static volatile int seen;

static void *set(void *argument)
{
	(void)argument;
	result = 6;	/* RACE:a */
	return NULL;
}

static void *idle(void *argument)
{
	(void)argument;
	later();
	return NULL;
}

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, set, NULL);
	pthread_create(&other, NULL, idle, NULL);
	pthread_join(other, NULL);
	seen = result;	/* RACE:a */
	pthread_join(one, NULL);
	return seen != 6;
}
