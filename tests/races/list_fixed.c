/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list_fixed.c - the head of the list changes in one instruction */
#include "race.h"

static struct item {
	struct item *next;
} items[2];
static _Atomic(struct item *) head;

static void push(struct item *item)
{
	struct item *first = atomic_load(&head);

	do
		item->next = first;
	while (!atomic_compare_exchange_strong(&head, &first, item));
}

static void one(void)
{
	push(&items[0]);
}

static void two(void)
{
	push(&items[1]);
}

int main(void)
{
	race(one, two);
	return !head || !head->next;
}
