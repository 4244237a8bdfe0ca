/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_flag_racy.c - an atomic flag on the heap, and what is written behind it
 */
#include <stdlib.h>

#include "race.h"

struct box {
	int early, late;
	atomic_int full;
};

static struct box *box;
static int seen;

static void fill(void)
{
	box->early = 1;
	atomic_store_explicit(&box->full, 1, memory_order_release);
	box->late = 2;	/* RACE:a */
}

static void take(void)
{
	while (!atomic_load_explicit(&box->full, memory_order_acquire))
		continue;
	seen = box->early;
	seen += box->late;	/* RACE:a */
}

int main(void)
{
	box = calloc(1, sizeof(*box));
	race(fill, take);
	return seen == 0;
}
