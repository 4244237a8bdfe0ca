/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tokens_racy.c - two threads use strtok(), whose memory they share */
#include "race.h"

#include <string.h>

static volatile int counts[2];

static void split(int i, char *text)
{
	char *word = strtok(text, " ");	/* RACE? */

	for (; word; word = strtok(NULL, " "))	/* RACE:a */
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
