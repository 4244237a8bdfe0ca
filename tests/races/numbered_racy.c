/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numbered_racy.c - the number is also written behind the start */
#include <sched.h>

#include "race.h"

static int number, seen;
static atomic_int done;
static char stack[65536] __attribute__((aligned(16)));

static int run(void *argument)
{
	(void)argument;
	seen = number;	/* RACE:a */
	atomic_store(&done, 1);
	return 0;
}

int main(void)
{
	int tid = clone(run, stack + sizeof(stack), CLONE_VM | CLONE_FS |
			CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			CLONE_SYSVSEM | CLONE_PARENT_SETTID, NULL, &number);

	number = tid;	/* RACE:a */
	while (!atomic_load(&done))
		sched_yield();
	return seen != tid;
}
