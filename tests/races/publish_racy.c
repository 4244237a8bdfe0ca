/* SPDX-License-Identifier: GPL-2.0-or-later */
/* publish_racy.c - an object is shown by a plain pointer */
#include "race.h"

static struct {
	int x, y;
} object;
static void *volatile shown;
static volatile int seen;

static void show(void)
{
	object.y = 3;	/* RACE:b */
	shown = &object;	/* RACE:a */
}

static void look(void)
{
	later();
	if (shown)	/* RACE:a */
		seen = object.y;	/* RACE:b */
}

int main(void)
{
	race(show, look);
	return seen != 3;
}
