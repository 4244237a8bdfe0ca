/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grandchild_fixed.c - the child waits for its child */
#include "race.h"

static int result;
static volatile int seen;

static void *grandchild(void *argument)
{
	(void)argument;
	result = 6;
	return NULL;
}

static void *child(void *argument)
{
	pthread_create(argument, NULL, grandchild, NULL);
	pthread_join(*(pthread_t *)argument, NULL);
	return NULL;
}

int main(void)
{
	pthread_t thread, other;

	pthread_create(&thread, NULL, child, &other);
	pthread_join(thread, NULL);
	seen = result;
	return seen != 6;
}
