/* SPDX-License-Identifier: GPL-2.0-or-later */
/* successors_racy.c - a thread is made when another one is likely done */
#include "race.h"

static int total;

static void *add(void *argument)
{
	(void)argument;
	total++;	/* RACE:a */
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, add, NULL);
		later();
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return total != 3;
}
