/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barrier_phase_racy.c - the next phase begins before all have read */
#include "race.h"

static int value;
static volatile int seen[2];

static void leader(void)
{
	value = 1;
	meet();
	seen[0] = value;
	value = 2;	/* RACE:a */
}

static void follower(void)
{
	meet();
	seen[1] = value;	/* RACE:a */
}

int main(void)
{
	race(leader, follower);
	return seen[1] != 1 && seen[1] != 2;
}
