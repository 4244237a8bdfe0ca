/* SPDX-License-Identifier: GPL-2.0-or-later */
/* environment_racy.c - setenv() while another thread calls getenv() */
#include "race.h"

#include <stdlib.h>

static const char *volatile seen;

static void changer(void)
{
	setenv("COLOUR", "light blue", 1);	/* RACE:a */
}

static void reader(void)
{
	later();
	seen = getenv("COLOUR");	/* RACE:a */
}

int main(void)
{
	setenv("COLOUR", "red", 1);
	race(changer, reader);
	return !seen;
}
