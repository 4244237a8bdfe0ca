/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines_racy.c - two read lines into one buffer, from two files */
#include "race.h"

#include <stdio.h>

static char shared[64];
static FILE *files[2];
static const char *volatile results[2];

static void take(int i)
{
	results[i] = fgets(shared, 64, files[i]);	/* RACE:a */
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
	for (int i = 0; i < 2; i++) {
		files[i] = tmpfile();
		if (!files[i] || fputs("a line\n", files[i]) < 0)
			return 1;
		rewind(files[i]);
	}
	race(one, two);
	return !results[0] || !results[1];
}
