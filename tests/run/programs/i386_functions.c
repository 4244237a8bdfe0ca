/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386_functions.c - functions with arguments and results of all kinds */
#include <stdio.h>

struct point {
	int x;
	double y;
};

__attribute__((noipa)) double mix(double a, float b, int c)
{
	return a * b + c;
}

__attribute__((noipa)) long long wide(long long value, char c)
{
	return value * 3 + c;
}

__attribute__((noipa)) struct point make(int x)
{
	return (struct point){ x, x * 0.5 };
}

__attribute__((noipa)) int count(int n, const char *name)
{
	return n < 2 ? 1 : n * count(n - 1, name);
}

int main(void)
{
	struct point point = make(7);

	printf("%g %lld %d %g\n", mix(1.5, 2.5F, 2), wide(5000000000LL, 'a'),
	       count(5, "five"), point.y);
	return 0;
}
