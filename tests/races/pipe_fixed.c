/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipe_fixed.c - reads when the byte has come through the pipe */
#include <stdlib.h>
#include <unistd.h>

#include "race.h"

static int data, ends[2];
static volatile int seen;

static void sender(void)
{
	data = 4;
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void receiver(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	seen = data;
}

int main(void)
{
	if (pipe(ends))
		return 1;
	race(sender, receiver);
	return seen != 4;
}
