/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list_racy.c - both put themselves at the head of a list */
#include "race.h"

static struct item {
	struct item *next;
} items[2], *volatile head;

static void push(struct item *item)
{
	item->next = head;	/* RACE:a */
	head = item;	/* RACE:a */
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
	return !head;
}
