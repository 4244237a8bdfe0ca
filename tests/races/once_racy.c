/* SPDX-License-Identifier: GPL-2.0-or-later */
/* once_racy.c - initialized once, by hand */
#include "race.h"

static int initialized, value;
static volatile int seen[2];

static int get(void)
{
	if (!initialized) {	/* RACE:a */
		value = 9;	/* RACE:b */
		initialized = 1;	/* RACE:a */
	}
	return value;	/* RACE:b */
}

static void one(void)
{
	seen[0] = get();
}

static void two(void)
{
	later();
	seen[1] = get();
}

int main(void)
{
	race(one, two);
	return seen[0] != 9 || seen[1] != 9;
}
