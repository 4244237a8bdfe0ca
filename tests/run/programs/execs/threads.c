/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c - a thread executes a program while others wait, spin and sleep
 *
 * The program is itself, with one argument less: "leader" executes in the
 * first thread, "other" in another.  Afterwards it makes threads again, so
 * that turns go on.  Says of each program which thread it is.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORK 200000

static char **arguments;
static volatile unsigned long spins;

static void *spin(void *argument)
{
	(void)argument;
	for (;;)
		spins++;
	return NULL;
}

static void *sleeper(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

static void *work(void *argument)
{
	volatile unsigned long *sum = argument;

	for (int i = 0; i < WORK; i++)
		*sum += (unsigned long)i;
	return NULL;
}

static void execute(void)
{
	while (spins < 1000)
		usleep(100);
	printf("%s: thread %ld\n", arguments[1], syscall(SYS_gettid));
	fflush(stdout);
	execv("/proc/self/exe", arguments + 1);
	exit(3);
}

static void *execute_here(void *argument)
{
	execute();
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t spinner, other, third;
	unsigned long sum = 0;

	if (syscall(SYS_gettid) != getpid()) {
		printf("thread %ld of %d\n", syscall(SYS_gettid), getpid());
		return 1;
	}
	arguments = argv;
	pthread_create(&third, NULL, work, &sum);
	pthread_join(third, NULL);
	if (argc < 2) {
		printf("end: %lu\n", sum);
		return 0;
	}
	pthread_create(&spinner, NULL, spin, NULL);
	pthread_create(&third, NULL, sleeper, NULL);
	if (!strcmp(argv[1], "leader"))
		execute();
	pthread_create(&other, NULL, execute_here, NULL);
	pthread_join(spinner, NULL);
	return 2;
}
