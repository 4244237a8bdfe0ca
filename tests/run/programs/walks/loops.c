/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that change what can be watched, in small and in large pieces. */
#include <stdio.h>
#include <string.h>

struct cell {
	char tag[8];
	short small;
	long wide;
};

static struct cell cells[4];
static int last;
static double mean;

static void fill(struct cell *cell, int number)
{
	memset(cell, 0, sizeof *cell);
	snprintf(cell->tag, sizeof cell->tag, "c%d", number);
	cell->small = (short)(number * 3);
	cell->wide = (long)number << 33;
}

static int scan(const struct cell *cell, int count)
{
	int found = -1;

	while (count-- > 0) {
		last = cell->small;
		if (cell->wide & 1L << 34)
			found = count;
		cell++;
	}
	return found;
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		fill(&cells[i], i);
	for (int i = 0; i < 3; i++) {
		last = i;
		mean += last * 0.5;
	}
	printf("%d %.2f\n", scan(cells, 4), mean);
	memcpy(&cells[0], &cells[3], sizeof cells[0]);
	printf("%s\n", cells[0].tag);
	return 0;
}
