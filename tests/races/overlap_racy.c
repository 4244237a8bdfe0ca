/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overlap_racy.c - two ranges that have one element in common */
#include "race.h"

static int elements[16];

static void low(void)
{
	for (int i = 0; i <= 8; i++)
		elements[i] = i;	/* RACE:a */
}

static void high(void)
{
	for (int i = 8; i < 16; i++)
		elements[i] = i * 2;	/* RACE:a */
}

int main(void)
{
	race(low, high);
	return elements[15] != 30;
}
