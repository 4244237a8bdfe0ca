/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reset_racy.c - a plain store to a counter that another thread adds to */
#include <stdlib.h>
#include "race.h"

static int early, late;
static int *elsewhere;

static void add(void)
{
	__sync_fetch_and_add(&late, 1);		/* RACE:late */
	later();
	__sync_fetch_and_add(&early, 1);	/* RACE:early */
	__sync_fetch_and_add(elsewhere, 1);	/* RACE:elsewhere */
}

static void reset(void)
{
	early = 0;				/* RACE:early */
	*elsewhere = 0;				/* RACE:elsewhere */
	later();
	later();
	late = 0;				/* RACE:late */
}

int main(void)
{
	elsewhere = calloc(1, sizeof(*elsewhere));
	race(add, reset);
	free(elsewhere);
	return 0;
}
