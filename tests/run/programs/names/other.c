/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other.c - a variable of a file that is called as one of another file */
#include "other.h"

struct opaque {
	int inside;
};

static int hidden = 77;
struct opaque thing = { 12 };

int other(int n)
{
	static int count = 500;

	count += n & 1;
	return hidden + count;
}
