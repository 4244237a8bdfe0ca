/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that call themselves and each other. */
#include <stdio.h>

static int odd(int n);

static int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}

static int odd(int n)
{
	if (n == 0)
		return 0;
	return even(n - 1);
}

__attribute__((noinline)) static int tree(int depth, int *leaves)
{
	int sum = 0;

	if (depth == 0) {
		++*leaves;
		return 1;
	}
	for (int child = 0; child < 2; child++)
		sum += tree(depth - 1, leaves) + child;
	return sum;
}

__attribute__((noinline)) static int ackermann(int m, int n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void)
{
	int leaves = 0;
	int sum = tree(3, &leaves);

	printf("%d of %d leaves\n", sum, leaves);
	printf("%d\n", ackermann(2, 2));
	printf("%d\n", even(leaves) + odd(sum));
	return 0;
}
