// SPDX-License-Identifier: GPL-2.0-or-later
// A unit of its own: a recursion, a variable that two threads write.
#include "part.h"

#include <stdlib.h>

int total;
static int depth;

__attribute__((noinline)) int sum(const struct node *node, int sofar)
{
	int here;

	depth++;
	if (!node)
		return sofar;
	here = node->value;		// mark inner
	return sum(node->next, sofar + here) + here;
}

void *work(void *argument)
{
	int by = *(const int *)argument;

	for (int i = 0; i < 2000; i++)
		total += by;		// mark race
	return NULL;
}
