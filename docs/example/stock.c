/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stock.c - a program with a mistake, for the README's session */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	char name[16];
	int price;
	struct item *next;
};

static struct item *stock;

static void add(const char *name, int price)
{
	struct item *item = malloc(sizeof(*item));

	item->price = price;
	item->next = stock;
	strcpy(item->name, name);
	stock = item;
	printf("added %s\n", name);
}

static int total(const struct item *item)
{
	int sum = 0;

	for (; item; item = item->next)
		sum += item->price;
	return sum;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	add("apples", 3);
	add("pomegranate juice, 1 litre", 7);
	add("bread", 4);
	printf("total: %d\n", total(stock));
	return 0;
}
