/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside_atomic_fixed.c - plain numbers next to what is atomic, under a lock */
#include <stdlib.h>

#include "race.h"

struct box {
	int plain;
	atomic_int number;
	int other;
};

static struct box *box;
static int *numbers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void one(struct box *it, int *list)
{
	atomic_store_explicit(&it->number, 1, memory_order_relaxed);
	pthread_mutex_lock(&lock);
	it->plain = 1;
	list[1] = 1;
	it[1].other = 1;
	pthread_mutex_unlock(&lock);
}

static void run_one(void)
{
	one(box, numbers);
}

static void run_two(void)
{
	struct box *it = box;

	atomic_store_explicit(&it->number, 2, memory_order_relaxed);
	pthread_mutex_lock(&lock);
	it->plain = 2;
	numbers[1] = 2;
	it[1].other = 2;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	box = calloc(2, sizeof(*box));
	numbers = calloc(2, sizeof(*numbers));
	race(run_one, run_two);
	return box->plain == 0;
}
