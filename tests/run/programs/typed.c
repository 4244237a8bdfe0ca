/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of several types that get several values each: see history.py. */
#include <stdbool.h>

enum color { RED, GREEN = 5, BLUE = -3 };

int number;
unsigned bits;
char letter;
short small;
long wide;
double real;
float single;
long double large;
enum color color;
bool flag;
int *pointer;
int row[4];
struct { int field : 3; } state;

int main(void)
{
	for (volatile int i = 3; i > -4; i--) {
		number = i;
		bits = (unsigned)i;
		letter = (char)('a' + i);
		small = (short)i;
		wide = i;
		real = i + 0.5;
		single = (float)i / 4;
		large = i;
		color = i == 2 ? GREEN : i == 1 ? BLUE : RED;
		flag = i & 1;
		pointer = i & 1 ? &number : row + 1;
		row[i & 3] = i;
		state.field = i;
	}
	*(char *)&number = 7;
	return 0;
}
