/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_lock_racy.c - a lock made of a plain variable */
#include "race.h"

static volatile int locked;
static int counter;

static void change(void)
{
	while (locked)	/* RACE? */
		continue;
	locked = 1;	/* RACE? */
	counter++;	/* RACE:a */
	locked = 0;	/* RACE? */
}

int main(void)
{
	race(change, change);
	return counter == 0;
}
