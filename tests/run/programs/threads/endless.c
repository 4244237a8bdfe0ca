/* SPDX-License-Identifier: GPL-2.0-or-later */
/* endless.c - threads that never end, in a process and in its child */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static volatile unsigned long turns, spins;

static void *turn(void *argument)
{
	unsigned long me = (unsigned long)argument;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (turns % 2 != me)
			pthread_cond_wait(&turned, &lock);
		turns++;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *spin(void *argument)
{
	for (;;)
		spins++;
	return argument;
}

static void *wait_for_nothing(void *argument)
{
	pause();
	return argument;
}

static void start_all(void)
{
	void *(*const routines[])(void *) = { turn, turn, spin,
					      wait_for_nothing };
	pthread_t thread;

	for (unsigned long i = 0; i < 4; i++)
		pthread_create(&thread, NULL, routines[i], (void *)i);
}

static void end_never(void)
{
	start_all();
	for (;;)
		pause();
}

/* With an argument: a child does it, and this process waits for its end. */
int main(int argc, char **argv)
{
	int status = 0;
	pid_t child;

	(void)argv;
	if (argc == 1) {
		printf("begins\n");
		fflush(stdout);
		end_never();
	}
	child = fork();
	if (!child)
		end_never();
	printf("%d\n", (int)child);
	fflush(stdout);
	waitpid(child, &status, 0);
	printf("%s\n", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
					     "ended");
	return 0;
}
