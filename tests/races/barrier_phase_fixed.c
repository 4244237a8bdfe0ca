/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barrier_phase_fixed.c - a barrier after the read as well */
#include "race.h"

static int value;
static volatile int seen[2];

static void leader(void)
{
	for (int i = 1; i <= 5; i++) {
		value = i;
		meet();
		seen[0] += value;
		meet();
	}
}

static void follower(void)
{
	for (int i = 1; i <= 5; i++) {
		meet();
		seen[1] += value;
		meet();
	}
}

int main(void)
{
	race(leader, follower);
	return seen[0] != 15 || seen[1] != 15;
}
