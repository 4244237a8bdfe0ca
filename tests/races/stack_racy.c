/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_racy.c - changes a local variable that it gave away */
#include "race.h"

static void *run(void *argument)
{
	*(volatile int *)argument += 1;	/* RACE:a */
	return NULL;
}

int main(void)
{
	volatile int local = 5;
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)(uintptr_t)&local);
	local += 2;	/* RACE:a */
	pthread_join(thread, NULL);
	return local < 6;
}
