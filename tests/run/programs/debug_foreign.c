/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_foreign.c - what a debugger is asked of, and a crash at the end */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
	int first;
	double second;
	const char *name;
};

__thread int own = 5;
static __thread long hidden;
int total;
struct pair last, copy;

__attribute__((noipa)) size_t size_of(const char *text)
{
	return strlen(text);
}

__attribute__((noipa)) int add(int value)
{
	total += value;
	return total;
}

__attribute__((noipa)) long factorial(int n)
{
	long rest;

	if (n <= 1)
		return 1;
	rest = factorial(n - 1);
	return n * rest;
}

__attribute__((noipa)) void keep(struct pair *to, const struct pair *from)
{
	*to = *from;
}

__attribute__((noipa)) void *run(void *arg)
{
	own += *(int *)arg;
	hidden = own;
	add(own);
	return NULL;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	total += info->si_signo == number ? number : 0;
}

int main(int argc, char **argv)
{
	struct pair here = { argc, 1.5, "a pair" };
	int numbers[2] = { 10, 20 };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };
	pthread_t thread;

	for (int i = 0; i < 5; i++)
		add(i);
	keep(&last, &here);
	keep(&copy, &last);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, &numbers[i]);
		pthread_join(thread, NULL);
	}
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("%ld %d %zu\n", factorial(5), total, size_of(last.name));
	fflush(stdout);
	if (!fork())
		_exit(3);
	wait(NULL);
	if (argc > 1) {
		char *const words[] = { argv[0], NULL };

		execv(argv[0], words);
	}
	copy.name = NULL;
	return copy.name[0];
}
