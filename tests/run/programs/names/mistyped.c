/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mistyped.c - names that are asked for where they mean nothing; see names.py */
#include <stdio.h>

#include "mark.h"

struct node {
	int id;
	struct node *next;
};

struct stats {
	int done;
	double factors[3];
	struct {
		int deep;
	};
} stats = { 1, { 2, 3, 4 }, { 5 } };

static struct node first = { 1, NULL };
__thread int each = 3;

int find_all(int wanted)
{
	return wanted;
}

static int inner(const char *text)
{
	int found = find_all(3);

	MARK();
	return text[0] + found;
}

static int execute(int code, struct node *head)
{
	for (int k = 0; k < 1; k++)
		code += inner("abc") + head->id;
	return code;
}

static int unrelated(int other)
{
	int kept = other;

	return kept + 1;
}

int main(int argc, char **argv)
{
	int sum = execute(argc, &first) + unrelated(2);

	return !sum || !stats.done || !argv || each != 3;
}
