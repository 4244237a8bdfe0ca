/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin_flag_fixed.c - waits for an atomic flag */
#include "race.h"

static int data;
static atomic_int ready;
static volatile int seen;

static void producer(void)
{
	data = 7;
	atomic_store(&ready, 1);
}

static void consumer(void)
{
	while (!atomic_load(&ready))
		continue;
	seen = data;
}

int main(void)
{
	race(producer, consumer);
	return seen != 7;
}
