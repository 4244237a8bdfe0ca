/* SPDX-License-Identifier: GPL-2.0-or-later */
/* static_buffer_racy.c - a function that returns a static buffer */
#include "race.h"

static char digits[8];
static volatile int lengths[2];

static int format(unsigned number)
{
	int length = 0;

	for (; number; number /= 10)
		digits[length++] = (char)('0' + number % 10);	/* RACE:a */
	return length;
}

static void one(void)
{
	lengths[0] = format(123);
}

static void two(void)
{
	lengths[1] = format(45);
}

int main(void)
{
	race(one, two);
	return lengths[0] != 3 || lengths[1] != 2;
}
