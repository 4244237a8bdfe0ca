/* SPDX-License-Identifier: GPL-2.0-or-later */
/* received_racy.c - two read() into one buffer */
#include "race.h"

#include <unistd.h>

static char shared[16];
static int ends[2];
static volatile ssize_t sizes[2];

/* The pipe orders who writes it before who reads it, but not two readers. */
static void receive(int i)
{
	sizes[i] = read(ends[0], shared, 8);	/* RACE:a */
}

static void one(void)
{
	receive(0);
}

static void two(void)
{
	receive(1);
}

int main(void)
{
	if (pipe(ends) || write(ends[1], "sixteen letters.", 16) != 16)
		return 1;
	race(one, two);
	return sizes[0] != 8 || sizes[1] != 8;
}
