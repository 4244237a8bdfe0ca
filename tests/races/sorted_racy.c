/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorted_racy.c - two threads sort the same array */
#include "race.h"

#include <stdlib.h>

static int shared[64];

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;	/* RACE? */

	return (x > y) - (x < y);
}

static void sort(int i)
{
	(void)i;
	qsort(shared, 64, sizeof(shared[0]), compare);	/* RACE:a */
}

static void one(void)
{
	sort(0);
}

static void two(void)
{
	sort(1);
}

int main(void)
{
	for (int i = 0; i < 64; i++)
		shared[i] = i * 37 % 64;
	race(one, two);
	return shared[0] != 0;
}
