/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_barrier_racy.c - reads the other's half at once */
#include "race.h"

static int halves[2];
static volatile int sums[2];

static void left(void)
{
	halves[0] = 1;	/* RACE:a */
	sums[0] = halves[1];	/* RACE:b */
}

static void right(void)
{
	halves[1] = 2;	/* RACE:b */
	sums[1] = halves[0];	/* RACE:a */
}

int main(void)
{
	race(left, right);
	return sums[0] > 2 || sums[1] > 1;
}
