/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots_fixed.c - the number of the next free slot is atomic */
#include "race.h"

static atomic_int next_free;
static volatile int slots[4];

static void take(void)
{
	int mine = next_free++;

	slots[mine] = 1;
}

int main(void)
{
	race(take, take);
	return !slots[0] || !slots[1];
}
