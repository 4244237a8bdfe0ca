/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_local_fixed.c - each thread has its own variable */
#include "race.h"

static _Thread_local int own;
static volatile int seen[2];

static void one(void)
{
	own++;
	meet();
	seen[0] = own;
}

static void two(void)
{
	own += 2;
	meet();
	seen[1] = own;
}

int main(void)
{
	race(one, two);
	return seen[0] != 1 || seen[1] != 2 || own;
}
