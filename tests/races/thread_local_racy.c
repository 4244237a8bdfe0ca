/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_local_racy.c - a pointer to another thread's own variable */
#include "race.h"

static _Thread_local int own;
static int *shown;

static void owner(void)
{
	shown = &own;
	meet();
	own++;	/* RACE:a */
	later();
}

static void guest(void)
{
	meet();
	(*shown)++;	/* RACE:a */
}

int main(void)
{
	race(owner, guest);
	return 0;
}
