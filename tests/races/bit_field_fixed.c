/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bit_field_fixed.c - two bytes of the same word */
#include "race.h"

static struct {
	unsigned char one, two;
} fields;

static void set_one(void)
{
	fields.one = 5;
}

static void set_two(void)
{
	fields.two = 9;
}

int main(void)
{
	race(set_one, set_two);
	return fields.one != 5 || fields.two != 9;
}
