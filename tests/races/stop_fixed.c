/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stop_fixed.c - a worker is stopped by an atomic flag */
#include "race.h"

static atomic_bool stop;

static void work(void)
{
	volatile unsigned long rounds __attribute__((unused)) = 0;

	while (!stop)
		rounds++;
}

static void end(void)
{
	later();
	stop = 1;
}

int main(void)
{
	race(work, end);
	return 0;
}
