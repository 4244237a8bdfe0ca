/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange_racy.c - writes after the exchange that gave it away */
#include "race.h"

static int object;
static _Atomic(int *) box;
static volatile int seen;

static void giver(void)
{
	atomic_exchange(&box, &object);
	object = 2;	/* RACE:a */
}

static void taker(void)
{
	int *taken;

	do
		taken = atomic_exchange(&box, NULL);
	while (!taken);
	seen = *taken;	/* RACE:a */
}

int main(void)
{
	race(giver, taker);
	return seen != 0 && seen != 2;
}
