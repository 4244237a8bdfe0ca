/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_barrier_fixed.c - a barrier between write and read */
#include "race.h"

static int halves[2];
static volatile int sums[2];

static void left(void)
{
	halves[0] = 1;
	meet();
	sums[0] = halves[1];
}

static void right(void)
{
	halves[1] = 2;
	meet();
	sums[1] = halves[0];
}

int main(void)
{
	race(left, right);
	return sums[0] != 2 || sums[1] != 1;
}
