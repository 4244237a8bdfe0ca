/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange_fixed.c - writes before the exchange that gives it away */
#include "race.h"

static int object;
static _Atomic(int *) box;
static volatile int seen;

static void giver(void)
{
	object = 2;
	atomic_exchange(&box, &object);
}

static void taker(void)
{
	int *taken;

	do
		taken = atomic_exchange(&box, NULL);
	while (!taken);
	seen = *taken;
}

int main(void)
{
	race(giver, taker);
	return seen != 2;
}
