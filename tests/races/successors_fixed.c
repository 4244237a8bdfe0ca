/* SPDX-License-Identifier: GPL-2.0-or-later */
/* successors_fixed.c - a thread is made when another one has been joined */
#include "race.h"

static int total;

static void *add(void *argument)
{
	(void)argument;
	total++;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, add, NULL);
		pthread_join(thread, NULL);
	}
	return total != 3;
}
