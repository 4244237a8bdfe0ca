/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callers.c - functions whose callers have variables of the same names */
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
struct node { int id; struct node *next; };
static volatile int sink;
static inline __attribute__((always_inline)) int leaf(int i, struct node *n)
{
	int twice = i * 2 + sink;
	syscall(SYS_getppid);
	sink += twice + n->id;
	return twice;
}
__attribute__((noinline)) static int middle(long i, double d, const char *name)
{
	struct node own = { (int)i + 7, NULL };
	int sum = 0;
	for (int k = 0; k < 3; k++)
		sum += leaf(k + (int)i, &own);
	sink += name[0] + (int)d;
	return sum + own.id;
}
__attribute__((noinline)) static int deep(int i, int left)
{
	char text[16] = "";
	snprintf(text, sizeof(text), "i=%d", i);
	int got = left ? deep(i + 1, left - 1) : middle(i, i * 1.5, text);
	sink += text[2];
	return got + i;
}
int main(int argc, char **argv)
{
	int i = argc + 40;
	long total = 0;
	for (int round = 0; round < 3; round++)
		total += deep(i + round, 2);
	printf("%ld\n", total);
	return 0;
}
