/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tokens_fixed.c - each has its own memory: strtok_r() */
#include "race.h"

#include <string.h>

static volatile int counts[2];

static void split(int i, char *text)
{
	char *rest;
	char *word = strtok_r(text, " ", &rest);

	for (; word; word = strtok_r(NULL, " ", &rest))
		counts[i]++;
}

static void one(void)
{
	char text[] = "some words";

	split(0, text);
}

static void two(void)
{
	char text[] = "some more words";

	split(1, text);
}

int main(void)
{
	race(one, two);
	return counts[0] + counts[1] == 0;
}
