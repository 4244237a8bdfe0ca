/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.c - arguments and variables of all kinds, below a signal's handler */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum color { RED, GREEN = 5, BLUE };
union word { int number; char bytes[4]; };
struct node { struct node *next; int value; char name[8]; };
struct list { struct node *head; int count; double mean; union word word; };
typedef int (*compare)(const void *, const void *);
typedef unsigned short port;

static volatile int total;

static int less(const void *left, const void *right)
{
	const int *a = left, *b = right;

	total += *a;
	return *a < *b ? -1 : *a > *b;
}

static void handle(int number)
{
	static int calls;
	int twice = number * 2;

	calls++;
	for (int i = 0; i < 40; i++)
		total += twice + i * calls;
}

static int many(int count, int filled[count], compare order)
{
	long sum = 0;
	float third = 1.0f / 3;

	for (int i = 0; i < count; i++) {
		char letter = (char)('a' + i);
		int twice = i * 2;

		filled[i] = letter * twice - total;
		sum += filled[i];
	}
	qsort(filled, (size_t)count, sizeof(int), order);
	return (int)(sum * third);
}

static int insert(struct list *list, int value, const char *name,
		  enum color color, struct node by, port port, double weight)
{
	struct node *node = malloc(sizeof(*node));
	struct list copy = *list;
	char text[300];
	int numbers[20];
	unsigned char flag = value & 1;
	long double wide = sqrtl(value + weight);

	memset(text, 'x', sizeof(text));
	text[299] = '\0';
	node->next = list->head;
	node->value = value + by.value;
	strncpy(node->name, name, 7);
	list->head = node;
	list->count++;
	list->mean += weight + copy.count;
	list->word.number = (int)wide;
	{
		int inner = value * 2;
		const char *value = text + 290;

		total += inner + (int)strlen(value) + (int)color + port + flag;
	}
	total += many(20, numbers, less);
	if (value % 3 == 0)
		raise(SIGUSR1);
	return list->count;
}

static int deep(int depth, struct list *list)
{
	struct node by = { 0, depth, "by" };

	if (!depth)
		return 0;
	insert(list, depth, "name", depth % 2 ? GREEN : BLUE, by,
	       (port)(depth * 1000), depth * 0.25);
	return deep(depth - 1, list) + by.value;
}

int main(int argc, char **argv)
{
	struct list list = { 0 };

	(void)argv;
	signal(SIGUSR1, handle);
	total = deep(12 + argc, &list);
	return total == 12345;
}
