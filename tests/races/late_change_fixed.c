/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_change_fixed.c - a change that takes long, but ends indivisibly */
#include "race.h"

static int counter;

static void count(void)
{
	for (int i = 0; i < 100; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
}

static unsigned changed(unsigned number)
{
	for (unsigned i = 0; i < 100; i++)
		number = number * 5 + i;
	return number;
}

static void count_long(void)
{
	int before = __atomic_load_n(&counter, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(
		       &counter, &before, (int)changed((unsigned)before), 0,
		       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
}

int main(void)
{
	race(count, count_long);
	return counter == 0;
}
