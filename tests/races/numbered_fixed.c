/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numbered_fixed.c - the kernel writes a new thread's number before the thread runs */
#include <sched.h>

#include "race.h"

static int number, seen;
static atomic_int done;
static char stack[65536] __attribute__((aligned(16)));

static int run(void *argument)
{
	(void)argument;
	seen = number;
	atomic_store(&done, 1);
	return 0;
}

int main(void)
{
	int tid = clone(run, stack + sizeof(stack), CLONE_VM | CLONE_FS |
			CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			CLONE_SYSVSEM | CLONE_PARENT_SETTID, NULL, &number);

	while (!atomic_load(&done))
		sched_yield();
	return seen != tid;
}
