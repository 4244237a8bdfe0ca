/* SPDX-License-Identifier: GPL-2.0-or-later */
/* longjmp() out of calls, of a signal handler, and in a loop. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf top;
static sigjmp_buf safe;
static volatile int tries;

static void give_up(int how)
{
	tries++;
	longjmp(top, how);
}

static int dig(int depth, int how)
{
	if (depth == 0)
		give_up(how);
	return dig(depth - 1, how) + 1;
}

static void handler(int number)
{
	siglongjmp(safe, number);
}

int main(void)
{
	int how = setjmp(top);

	printf("%d\n", how);
	if (how < 3)
		dig(how + 1, how + 1);
	signal(SIGUSR1, handler);
	if (sigsetjmp(safe, 1) == 0)
		raise(SIGUSR1);
	else
		printf("%d tries\n", tries);
	return 0;
}
