/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop_variable_fixed.c - gives each thread a number of its own */
#include "race.h"

static volatile int seen[3];

static void *run(void *argument)
{
	later();
	seen[*(volatile int *)argument] = 1;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int numbers[2], i;

	for (i = 0; i < 2;) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, run, &numbers[i]);
		i++;
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return !seen[0] || !seen[1];
}
