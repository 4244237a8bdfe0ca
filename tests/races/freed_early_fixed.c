/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freed_early_fixed.c - one frees what the other says to be finished with */
#include <stdlib.h>

#include "race.h"

static int *block;
static sem_t done;

static void one(void)
{
	block[50] = 1;
	sem_post(&done);
}

static void other(void)
{
	sem_wait(&done);
	free(block);
}

int main(void)
{
	sem_init(&done, 0, 0);
	block = calloc(100, sizeof(*block));
	race(one, other);
	return 0;
}
