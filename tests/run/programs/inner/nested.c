/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function in another one, as GNU C has them. */
#include <stdio.h>

int main(void)
{
	int base = 7, sum = 0;
	int add(int v)
	{
		int r = v + base;
		return r;
	}

	for (int i = 1; i < 4; i++)
		sum += add(i);
	{
		int add(int v)
		{
			return v - base;
		}
		sum += add(100);
	}
	printf("%d\n", sum);
	return 0;
}
