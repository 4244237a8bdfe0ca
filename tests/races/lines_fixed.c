/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines_fixed.c - from one stream, which has a lock: it orders them */
#include "race.h"

#include <stdio.h>

static char shared[64];
static FILE *file;
static const char *volatile results[2];

static void take(int i)
{
	results[i] = fgets(shared, 64, file);
}

static void one(void)
{
	take(0);
}

static void two(void)
{
	take(1);
}

int main(void)
{
	file = tmpfile();
	if (!file || fputs("first line\nsecond line\n", file) < 0)
		return 1;
	rewind(file);
	race(one, two);
	return fclose(file) || !results[0] || !results[1];
}
