/* SPDX-License-Identifier: GPL-2.0-or-later */
/* racing.c - threads that race for parts of a variable; see names.py */
#include <pthread.h>

struct stats {
	int done;
	long pad[3];
	struct {
		int a, b;
	} list[4];
	long factors;
} stats;

static void *run(void *arg)
{
	for (int i = 0; i < 2000; i++)
		stats.factors++;
	for (int i = 0; i < 2000; i++)
		stats.list[2].b++;
	return arg;
}

int main(void)
{
	pthread_t first, second;

	pthread_create(&first, NULL, run, NULL);
	pthread_create(&second, NULL, run, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return stats.done;
}
