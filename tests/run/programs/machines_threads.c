/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machines_threads.c - its second thread executes the rest of its arguments */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_here(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *execute(void *arguments)
{
	char **argv = arguments;

	execv(argv[1], argv + 1);
	exit(1);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	printf("%d\n", argc);
	fflush(stdout);
	if (argc == 1)
		return 0;
	pthread_create(&threads[0], NULL, wait_here, NULL);
	pthread_create(&threads[1], NULL, execute, argv);
	pthread_join(threads[1], NULL);
	return 1;
}
