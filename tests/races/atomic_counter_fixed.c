/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atomic_counter_fixed.c - both threads count atomically */
#include "race.h"

static atomic_int counter;

static void count(void)
{
	for (int i = 0; i < 10; i++)
		counter++;
}

int main(void)
{
	race(count, count);
	return counter != 20;
}
