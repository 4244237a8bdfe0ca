/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function that is inlined twice, and called once, for calls.py. */
#include <stdio.h>

static inline int twice(int n)
{
	volatile int sum = n + n;

	return sum;
}

int main(int argc, char **argv)
{
	int (*volatile kept)(int n) = twice;

	(void)argv;
	printf("%d\n", twice(argc) + kept(argc) + twice(argc + 1));
	return 0;
}
