/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freed_early_racy.c - one frees what the other has likely finished with */
#include <stdlib.h>

#include "race.h"

static int *block;
static volatile int freed;

static void one(void)
{
	block[50] = 1;	/* RACE:a */
}

static void other(void)
{
	later();
	free(block);	/* RACE:a */
	freed = 1;	/* not a call at the end, which leaves no trace */
}

int main(void)
{
	block = calloc(100, sizeof(*block));
	race(one, other);
	return 0;
}
