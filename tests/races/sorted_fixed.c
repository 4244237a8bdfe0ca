/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorted_fixed.c - each sorts its own */
#include "race.h"

#include <stdlib.h>

static int own[2][64];

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void sort(int i)
{
	qsort(own[i], 64, sizeof(own[i][0]), compare);
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
		own[0][i] = own[1][i] = i * 37 % 64;
	race(one, two);
	return own[0][0] != 0;
}
