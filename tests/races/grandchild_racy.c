/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grandchild_racy.c - waits for the child, but not for the child's child */
#include "race.h"

static int result;
static volatile int seen;

static void *grandchild(void *argument)
{
	(void)argument;
	later();
	result = 6;	/* RACE:a */
	return NULL;
}

static void *child(void *argument)
{
	pthread_create(argument, NULL, grandchild, NULL);
	return NULL;
}

int main(void)
{
	pthread_t thread, other;

	pthread_create(&thread, NULL, child, &other);
	pthread_join(thread, NULL);
	seen = result;	/* RACE:a */
	pthread_join(other, NULL);
	return seen != 0 && seen != 6;
}
