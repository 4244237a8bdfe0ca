/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beside_atomic_racy.c - plain numbers next to what is atomic, of the same size
 */
#include <stdlib.h>

#include "race.h"

struct box {
	int plain;
	atomic_int number;
	int other;
};

static struct box *box;
static int *numbers;

static void one(struct box *it, int *list)
{
	atomic_store_explicit(&it->number, 1, memory_order_relaxed);
	it->plain = 1;	/* RACE:a */
	list[1] = 1;	/* RACE:b */
	it[1].other = 1;	/* RACE:c */
}

static void run_one(void)
{
	one(box, numbers);
}

static void run_two(void)
{
	struct box *it = box;

	atomic_store_explicit(&it->number, 2, memory_order_relaxed);
	it->plain = 2;	/* RACE:a */
	numbers[1] = 2;	/* RACE:b */
	it[1].other = 2;	/* RACE:c */
}

int main(void)
{
	box = calloc(2, sizeof(*box));
	numbers = calloc(2, sizeof(*numbers));
	race(run_one, run_two);
	return box->plain == 0;
}
