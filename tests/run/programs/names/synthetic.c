/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synthetic.c - pointers to what an optimizer keeps in no memory; see names.py
 */
#include "mark.h"

#define INLINED static inline __attribute__((always_inline))

/* The mark belongs to the function. */
#define HERE()                                                               \
	do {                                                                 \
		MARK();                                                      \
		__asm__ volatile("nop" : : : "memory");                      \
	} while (0)

struct pair {
	int n, m;
	long unused;
};

static volatile int total;

static struct pair made(int a)
{
	struct pair p = { a + 1, a * 2, 0 };

	return p;
}

INLINED int look(const struct pair *v)
{
	HERE();
	total += v->n;
	HERE();
	return v->n + v->m;
}

INLINED int number(int *q, int **r)
{
	HERE();
	total += *q;
	return **r + 1;
}

INLINED int fixed(const int *c)
{
	HERE();
	return *c;
}

int main(int argc, char **argv)
{
	struct pair p = made(argc);
	int plain = argc * 3, table[2] = { argc, argc + 7 };
	int *to = &plain, five = 5;
	int sum = look(&p) + number(&plain, &to) + number(&table[1], &to) +
		  fixed(&five);

	return sum == 0 || !argv;
}
