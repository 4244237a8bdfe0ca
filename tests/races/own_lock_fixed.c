/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_lock_fixed.c - a lock made of an atomic flag */
#include "race.h"

static atomic_int locked;
static int counter;

static void change(void)
{
	while (atomic_exchange(&locked, 1))
		continue;
	counter++;
	atomic_store(&locked, 0);
}

int main(void)
{
	race(change, change);
	return counter != 2;
}
