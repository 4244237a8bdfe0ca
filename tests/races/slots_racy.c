/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots_racy.c - the number of the next free slot is plain */
#include "race.h"

static int next_free;
static volatile int slots[4];

static void take(void)
{
	int mine = next_free++;	/* RACE:a */

	slots[mine] = 1;	/* RACE? */
}

int main(void)
{
	race(take, take);
	return !slots[0];
}
