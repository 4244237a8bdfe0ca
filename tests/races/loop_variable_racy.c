/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop_variable_racy.c - gives each thread the address of the loop's variable
 */
#include "race.h"

static volatile int seen[3];

static void *run(void *argument)
{
	later();
	seen[*(volatile int *)argument] = 1;	/* RACE:a */
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2;) {
		pthread_create(&threads[i], NULL, run, &i);
		i++;	/* RACE:a */
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
