/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freed_both_racy.c - two threads that free memory are not ordered by that */
#include <stdlib.h>

#include "race.h"

static int shared;
static void *blocks[2];

static void one(void)
{
	shared = 1;	/* RACE:a */
	free(blocks[0]);
}

static void other(void)
{
	later();
	free(blocks[1]);
	shared = 2;	/* RACE:a */
}

int main(void)
{
	/* Too large to be kept by a thread. */
	for (int i = 0; i < 2; i++)
		blocks[i] = malloc(5000);
	race(one, other);
	return !shared;
}
