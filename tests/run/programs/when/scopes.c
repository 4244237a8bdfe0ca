/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of one name in blocks, in this unit, in another and a library. */
#include <stdio.h>

int use_own(int by);
int use_other(void);

static int mine = 5;
int later = 7;

static int inner(int n)
{
	int sum = n;

	for (int i = 0; i < 3; i++) {
		int c = n + i;			/* c */

		sum += c;			/* sum */
	}
	if (n > 2) {
		int later = sum;		/* later */

		sum += later;			/* after */
	}
	return sum + mine;
}

int main(void)
{
	int all = use_own(0) + use_other();

	for (int i = 0; i < 8; i++)
		all += inner(i);
	printf("%d\n", all);
	return 0;
}
