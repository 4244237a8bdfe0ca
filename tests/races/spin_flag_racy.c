/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin_flag_racy.c - waits for a plain flag */
#include "race.h"

static int data;
static volatile int ready, seen;

static void producer(void)
{
	data = 7;	/* RACE:b */
	ready = 1;	/* RACE:a */
}

static void consumer(void)
{
	while (!ready)	/* RACE:a */
		continue;
	seen = data;	/* RACE:b */
}

int main(void)
{
	race(producer, consumer);
	return seen != 7;
}
