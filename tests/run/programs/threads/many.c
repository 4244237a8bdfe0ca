/* SPDX-License-Identifier: GPL-2.0-or-later */
/* many.c - so many threads, one after the other, as the argument says */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char local[3000];

static void *run(void *argument)
{
	local[(size_t)argument % sizeof(local)]++;
	return argument;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0, count = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	for (unsigned long i = 0; i < count; i++) {
		pthread_t thread;
		void *result = NULL;

		if (pthread_create(&thread, NULL, run, (void *)i))
			return 1;
		pthread_join(thread, &result);
		sum += (unsigned long)result;
	}
	printf("%lu\n", sum);
	return 0;
}
