// SPDX-License-Identifier: GPL-2.0-or-later
// Units that are split: lists, inlined functions, threads, a mistake with the heap.
#include "part.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node *head;
static int scaled;

static inline __attribute__((always_inline)) int scale(int value, int by)
{
	int result = value * by;

	scaled++;
	return result;			// mark inlined
}

__attribute__((noinline)) static void push(int value, const char *name)
{
	struct node *node = malloc(sizeof(*node));

	node->value = scale(value, 3);
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->kind = node->value & 1 ? ODD : EVEN;
	node->next = head;
	head = node;			// mark pushed
}

__attribute__((noinline)) static void overflow(size_t size)
{
	char *block = malloc(size);

	memset(block, 7, size);
	block[size] = 1;		// mark overflow
	free(block);
}

int main(void)
{
	const int one = 1, two = 2;
	char name[16];
	pthread_t thread;
	int none;

	for (int i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		push(i, name);
	}
	/* gdb 17 takes all up to the next statement for a part of it. */
	none = scale(0, 2);
	printf("%d\n", sum(head, none));
	overflow(24);
	pthread_create(&thread, NULL, work, (void *)&one);
	work((void *)&two);
	pthread_join(thread, NULL);
	return getppid() < 0;
}
