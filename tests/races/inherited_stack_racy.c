/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inherited_stack_racy.c - detached threads, each on the stack of the last */
#include "race.h"

static int total;
static _Thread_local int own;

static void *add(void *detached)
{
	volatile int local[64];

	for (int i = 0; i < 64; i++)
		local[i] = i;
	own += local[1];
	total += own;	/* RACE:a */
	if (detached)
		pthread_detach(pthread_self());
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, add, i < 2 ? &total : NULL);
		if (i < 2)
			later();
	}
	pthread_join(thread, NULL);
	return total != 3;	/* RACE? */
}
