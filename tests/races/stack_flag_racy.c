/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_flag_racy.c - an atomic flag on a stack, and what is written behind it
 */
#include "race.h"

struct box {
	atomic_int full;
	int early, late;
};

static void *fill(void *argument)
{
	struct box *box = argument;

	box->early = 1;
	atomic_store_explicit(&box->full, 1, memory_order_release);
	box->late = 2;	/* RACE:a */
	return NULL;
}

int main(void)
{
	struct box box = { 0 };
	pthread_t thread;
	int seen;

	pthread_create(&thread, NULL, fill, &box);
	while (!atomic_load_explicit(&box.full, memory_order_acquire))
		continue;
	seen = box.early;
	seen += box.late;	/* RACE:a */
	pthread_join(thread, NULL);
	return seen == 0;
}
