/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that a program sends itself, and handlers that are interrupted. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t seen;
static volatile int counts[3];

static void inner(int number)
{
	counts[1] += number;
	seen |= 2;
}

static void outer(int number)
{
	seen |= 1;
	counts[0] += number;
	raise(SIGUSR2);
	counts[2]++;
}

static void fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	printf("at %p\n", info->si_addr);
	exit(seen == 3 ? 0 : 1);
}

static int work(int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		if (i == 1)
			raise(SIGUSR1);
		sum += i;
	}
	return sum;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};

	signal(SIGUSR1, outer);
	signal(SIGUSR2, inner);
	sigaction(SIGSEGV, &action, NULL);
	printf("%d\n", work(3));
	raise(SIGUSR2);
	printf("%d\n", counts[1]);
	*(volatile int *)16 = 1;
	return 2;
}
