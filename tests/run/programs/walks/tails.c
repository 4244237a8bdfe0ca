/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that end by jumping to another, directly and by a pointer. */
#include <stdio.h>
#include <stdlib.h>

static volatile int total;

__attribute__((noinline)) static int add(int value)
{
	total += value;
	return total;
}

__attribute__((noinline)) static int twice(int value)
{
	if (value < 0)
		return -1;
	return add(value * 2);
}

__attribute__((noinline)) static int chosen(int (*function)(int), int value)
{
	return function(value + 1);
}

__attribute__((noinline)) static int long_way(int value)
{
	total ^= 1;
	return chosen(twice, value);
}

static int by_size(const void *left, const void *right)
{
	int one = *(const int *)left;
	int other = *(const int *)right;

	return (one > other) - (one < other);
}

__attribute__((noinline)) static void sort(int *numbers, size_t count)
{
	qsort(numbers, count, sizeof *numbers, by_size);
}

int main(void)
{
	int numbers[] = {5, 2, 9, 1};

	for (int turn = 0; turn < 3; turn++)
		printf("%d\n", long_way(turn));
	sort(numbers, 4);
	printf("%d %d\n", numbers[0], chosen(add, numbers[3]));
	return 0;
}
