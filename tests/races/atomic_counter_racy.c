/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atomic_counter_racy.c - one thread counts atomically, the other does not */
#include "race.h"

static int counter;

static void count(void)
{
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);	/* RACE:a */
}

static void count_plainly(void)
{
	counter++;	/* RACE:a */
}

int main(void)
{
	race(count, count_plainly);
	return counter == 0;
}
