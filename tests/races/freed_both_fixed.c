/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freed_both_fixed.c - memory that one frees and the other gets */
#include <stdlib.h>

#include "race.h"

static int *volatile blocks[2];

static void use(int *block, size_t count)
{
	for (size_t i = 0; i < count; i++)
		block[i] = (int)i;
}

static void one(void)
{
	use(blocks[0], 1000);
	free(blocks[0]);
}

/* Gets memory of the same arena, part of which is the freed. */
static void other(void)
{
	int *block;

	later();
	block = realloc(blocks[1], 40000);
	use(block, 10000);
	free(block);
}

int main(void)
{
	for (int i = 2; i-- > 0;)
		blocks[i] = malloc(5000);
	race(one, other);
	return 0;
}
