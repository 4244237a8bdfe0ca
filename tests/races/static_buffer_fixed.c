/* SPDX-License-Identifier: GPL-2.0-or-later */
/* static_buffer_fixed.c - a function that fills the caller's buffer */
#include "race.h"

static volatile int lengths[2];

static int format(char *digits, unsigned number)
{
	int length = 0;

	for (; number; number /= 10)
		digits[length++] = (char)('0' + number % 10);
	return length;
}

static void one(void)
{
	char buffer[8];

	lengths[0] = format(buffer, 123);
}

static void two(void)
{
	char buffer[8];

	lengths[1] = format(buffer, 45);
}

int main(void)
{
	race(one, two);
	return lengths[0] != 3 || lengths[1] != 2;
}
