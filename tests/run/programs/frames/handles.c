/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handles.c - handlers of signals, on the stack and on one of their own */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned seen;
static char other[65536];

static __attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 31 + i;
	return sum;
}

static void inner(int number)
{
	seen += work(40) + (unsigned)number;
}

static void outer(int number)
{
	seen += work(50) ^ (unsigned)number;
	raise(SIGUSR2);
	seen += work(60);
}

static __attribute__((noinline)) void raises(int levels)
{
	volatile char room[64];

	room[0] = (char)levels;
	if (levels)
		raises(levels - 1);
	else
		raise(SIGUSR1);
	seen += (unsigned)room[0];
}

int main(void)
{
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction on_other = { .sa_handler = inner,
				      .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	signal(SIGUSR1, outer);
	sigaction(SIGUSR2, &on_other, NULL);
	for (int i = 0; i < 12; i++)
		raises(i);
	printf("%u\n", seen);
	return 0;
}
