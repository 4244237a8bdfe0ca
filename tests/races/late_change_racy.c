/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * late_change_racy.c - a plain change whose halves are far apart loses others
 */
#include "race.h"

static int counter;

static void count(void)
{
	for (int i = 0; i < 100; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); /* RACE:a */
}

static void count_plainly(void)
{
	unsigned number = (unsigned)counter;

	for (unsigned i = 0; i < 100; i++)
		number = number * 5 + i;
	counter = (int)number;	/* RACE:a */
}

int main(void)
{
	race(count, count_plainly);
	return counter == 0;
}
