/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mailbox_fixed.c - one thread fills it indivisibly, the other stores */
#include "race.h"

#define LETTERS 20

static int letter, sum;
static int full;

static void put(void)
{
	for (int i = 0; i < LETTERS; i++) {
		while (__atomic_load_n(&full, __ATOMIC_ACQUIRE))
			continue;
		letter = i;
		__atomic_exchange_n(&full, 1, __ATOMIC_ACQ_REL);
	}
}

static void take(void)
{
	for (int i = 0; i < LETTERS; i++) {
		while (!__atomic_load_n(&full, __ATOMIC_ACQUIRE))
			continue;
		sum += letter;
		__atomic_store_n(&full, 0, __ATOMIC_RELEASE);
	}
}

int main(void)
{
	race(put, take);
	return sum < 0;
}
