/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bit_field_racy.c - two fields of the same word */
#include "race.h"

static struct {
	unsigned one : 3, two : 5;
} fields;

static void set_one(void)
{
	fields.one = 5;	/* RACE:a */
}

static void set_two(void)
{
	fields.two = 9;	/* RACE:a */
}

int main(void)
{
	race(set_one, set_two);
	return !fields.one && !fields.two;
}
