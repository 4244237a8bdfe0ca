/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipe_racy.c - reads before the byte has come through the pipe */
#include <stdlib.h>
#include <unistd.h>

#include "race.h"

static int data, ends[2];
static volatile int seen;

static void sender(void)
{
	data = 4;	/* RACE:a */
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void receiver(void)
{
	char byte;

	seen = data;	/* RACE:a */
	if (read(ends[0], &byte, 1) != 1)
		abort();
}

int main(void)
{
	if (pipe(ends))
		return 1;
	race(sender, receiver);
	return seen != 0 && seen != 4;
}
