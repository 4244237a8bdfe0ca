/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_fixed.c - changes a local variable when it has it back */
#include "race.h"

static void *run(void *argument)
{
	*(volatile int *)argument += 1;
	return NULL;
}

int main(void)
{
	volatile int local = 5;
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)(uintptr_t)&local);
	pthread_join(thread, NULL);
	local += 2;
	return local != 8;
}
