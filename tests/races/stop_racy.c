/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stop_racy.c - a worker is stopped by a plain flag */
#include "race.h"

static volatile int stop;

static void work(void)
{
	volatile unsigned long rounds __attribute__((unused)) = 0;

	while (!stop)	/* RACE:a */
		rounds++;
}

static void end(void)
{
	later();
	stop = 1;	/* RACE:a */
}

int main(void)
{
	race(work, end);
	return 0;
}
