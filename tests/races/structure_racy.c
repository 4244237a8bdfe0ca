/* SPDX-License-Identifier: GPL-2.0-or-later */
/* structure_racy.c - a structure is copied while another writes a part of it */
#include "race.h"

static struct large {
	long parts[8];
} from, to;

static void copy(void)
{
	to = from;	/* RACE:a */
}

static void change(void)
{
	from.parts[7] = 1;	/* RACE:a */
}

int main(void)
{
	race(copy, change);
	return to.parts[7] != 0 && to.parts[7] != 1;
}
