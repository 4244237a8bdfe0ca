/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_joined_fixed.c - waits for both threads, then reads */
#include "race.h"

static int result;
static volatile int seen;

static void *set(void *argument)
{
	(void)argument;
	result = 6;
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
	pthread_join(one, NULL);
	seen = result;
	return seen != 6;
}
