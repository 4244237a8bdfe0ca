/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_back_fixed.c - stores that give back what was taken indivisibly */
#include <stdlib.h>
#include "race.h"

#define ROUNDS 20

struct box {
	int lock, full, claimed, users;
	int shared, done;
};

static struct box *box;
static struct box kept;

static void lock(int *word)
{
	while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(word, __ATOMIC_RELAXED))
			;
}

static void use(struct box *one)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock(&one->lock);
		one->shared++;
		__atomic_store_n(&one->lock, 0, __ATOMIC_RELEASE);
	}
	/* The one who comes first also says when it is done. */
	if (__sync_bool_compare_and_swap(&one->claimed, 0, 1)) {
		one->done++;
		__atomic_store_n(&one->claimed, 2, __ATOMIC_RELEASE);
	}
}

static void work(void)
{
	use(box);
	use(&kept);
}

static void give(void)
{
	work();
	for (int i = 0; i < 3; i++) {
		while (__sync_val_compare_and_swap(&box->full, 0, 1))
			;
	}
}

/* Whoever waits for a word may clear it. */
static void fetch(void)
{
	work();
	for (int i = 0; i < 3; i++) {
		while (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
			;
		__atomic_store_n(&box->full, 0, __ATOMIC_RELEASE);
	}
}

int main(void)
{
	box = malloc(sizeof(*box));
	box->lock = box->full = box->claimed = box->shared = 0;
	box->done = 0;
	box->users = 2;
	race(give, fetch);
	if (!__sync_sub_and_fetch(&box->users, 2))
		free(box);
	return 0;
}
