/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filled_racy.c - the C library writes on both sides: memset() */
#include "race.h"

#include <string.h>

static char shared[256];
static volatile size_t size = sizeof(shared);

static void one(void)
{
	memset(shared, 1, size);	/* RACE:a */
}

static void two(void)
{
	memset(shared, 2, size);	/* RACE:a */
}

int main(void)
{
	race(one, two);
	return shared[0] == 0;
}
