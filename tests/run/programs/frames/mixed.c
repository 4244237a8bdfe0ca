/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mixed.c - functions that call each other across two files; one keeps arguments
 * beyond its frame, of which it does not know how many there are
 *
 * With -DOUTER it is the file with main(), else the other one; one of them may
 * have no unwind tables.
 */
#include <stdarg.h>

#define APART __attribute__((noinline))

int outer(int depth, int (*inner)(int depth, ...), int number);
int inner(int depth, ...);
int last(int number);

extern volatile int sink;

#ifdef OUTER

volatile int sink;

/* Its frame is larger than what it calls knows. */
APART int outer(int depth, int (*next)(int depth, ...), int number)
{
	volatile int own[12] = { depth, number, depth + number };
	int sum = next(depth - 1, number + 1);

	return sum + own[depth % 12];
}

int main(void)
{
	volatile int own[40] = { 17 };

	sink = outer(6, inner, 100) + own[0];
	return 0;
}

#else

APART int last(int number)
{
	return number * 3 + sink;
}

APART int inner(int depth, ...)
{
	volatile int own[7] = { depth };
	va_list list;
	int number;

	va_start(list, depth);
	number = va_arg(list, int);
	va_end(list);
	own[1] = number;
	if (depth <= 0)
		return last(number) + own[0];
	return outer(depth, inner, number) + own[1];
}

#endif
