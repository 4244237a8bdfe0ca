/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_racy.c - nodes that are chained by atomic pointers before they are full
 */
#include <stdlib.h>

#include "race.h"

#define NODES 20

struct node {
	_Atomic(struct node *) next;
	int value;
};

static struct node *first;
static int sum;

static void append(void)
{
	struct node *last = first;

	for (int i = 1; i < NODES; i++) {
		struct node *node = calloc(1, sizeof(*node));

		atomic_store_explicit(&last->next, node, memory_order_release);
		node->value = i;	/* RACE:a */
		last = node;
	}
}

static void add(void)
{
	struct node *node = first, *next;

	for (int i = 1; i < NODES; i++) {
		while (!(next = atomic_load_explicit(&node->next,
						     memory_order_acquire)))
			continue;
		sum += next->value;	/* RACE:a */
		node = next;
	}
}

int main(void)
{
	first = calloc(1, sizeof(*first));
	race(append, add);
	return sum < 0;
}
