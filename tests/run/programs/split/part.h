/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PART_H
#define PART_H

enum kind { EVEN = 2, ODD = 7 };

struct node {
	int value;
	char name[12];
	struct node *next;
	enum kind kind;
};

extern int total;
int sum(const struct node *node, int sofar);
void *work(void *argument);

#endif
