/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counter_racy.c - a counter without a lock */
#include "race.h"

static int counter;

static void count(void)
{
	for (int i = 0; i < 10; i++)
		counter++;	/* RACE:a */
}

int main(void)
{
	race(count, count);
	return counter == 0;
}
