/* SPDX-License-Identifier: GPL-2.0-or-later */
/* publish_fixed.c - an object is shown by an atomic pointer */
#include "race.h"

static struct {
	int x, y;
} object;
static _Atomic(void *) shown;
static volatile int seen;

static void show(void)
{
	object.y = 3;
	atomic_exchange(&shown, (void *)&object);
}

static void look(void)
{
	later();
	if (atomic_load(&shown))
		seen = object.y;
}

int main(void)
{
	race(show, look);
	return seen != 3;
}
