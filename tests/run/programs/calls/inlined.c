/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are inlined wherever they are called, for calls.py. */
#include <stdio.h>

#define INLINED static inline __attribute__((always_inline))

INLINED int twice(int n)
{
	volatile int sum = n + n;

	return sum;
}

INLINED int square(int n)
{
	volatile int sum = twice(n) - n;

	sum *= n;
	return sum;
}

/* Has code of its own, which is never executed. */
static int never(int n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	int (*volatile kept)(int n) = never;
	volatile int sum = 0;

	(void)argv;
	for (int i = 0; i < 4; i++)
		sum += square(i + argc);
	sum += twice(sum);
	if (argc > 5)
		sum += kept(sum);		/* mark: never */
	printf("%d\n", sum);
	return 0;
}
