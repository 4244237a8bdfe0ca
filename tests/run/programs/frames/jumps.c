/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jumps.c - calls that optimization makes jumps of, and arguments that only
 * callers know afterwards
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

struct pair {
	int first, second;
};

static volatile int sink;
static int depth_most;

/* Nothing of its arguments is needed at the end. */
APART int leaf(int number, const char *name)
{
	int length = (int)strlen(name);

	for (int i = 0; i < number % 7; i++)
		sink += length;
	return sink & 0xff;
}

/* ------- one way ------- */

APART int third(int number)
{
	return leaf(number + 3, "third");
}

APART int second(int number, int unused)
{
	sink = unused;
	return third(number * 2);
}

APART int first(int number)
{
	return second(number - 1, number);
}

APART int fills(int number)
{
	volatile char filled[96];

	for (size_t i = 0; i < sizeof(filled); i++)
		filled[i] = (char)number;
	return leaf(number, "fills") + filled[number & 31];
}

/* Where it kept its caller's registers, what it jumps to fills the stack. */
APART int keeps(int number, int other)
{
	int sum = leaf(number, "keeps");

	sum += leaf(other, "other") * other;
	return fills(sum);
}

/* ------- several ways ------- */

APART int left(int number)
{
	return leaf(number, "left");
}

APART int right(int number)
{
	return leaf(number + 1, "right");
}

APART int either(int number)
{
	return number % 3 ? left(number) : right(number);
}

APART int both_end(int number)
{
	return either(number + 5);
}

/* ------- jumps that lead back, or nobody knows where ------- */

APART int odd(int number);

APART int even(int number)
{
	sink++;
	return number ? odd(number - 1) : 1;
}

APART int odd(int number)
{
	sink--;
	return number ? even(number - 1) : 0;
}

typedef int function(int);

APART int through(function *pointer, int number)
{
	return pointer(number + 1);
}

/* ------- arguments ------- */

APART int many(int a, int b, int c, int d, int e, int f, int on_stack,
	       long behind)
{
	int sum = leaf(a + b, "many");

	return sum + leaf(c + d + e + f, "more") + (on_stack ? (int)behind : 0);
}

APART int of_numbers(double weight, float part, unsigned char small, long wide)
{
	sink += (int)(weight * part);
	return leaf(small, "numbers") + (int)wide;
}

APART int of_pair(struct pair pair, struct pair *other)
{
	int sum = leaf(pair.first, "pair");

	other->second = sum;
	return leaf(other->first, "other");
}

/* A copy for one value of its second argument may be made. */
static APART int scaled(int number, int scale, const char *text)
{
	if (number > 1000)
		return leaf(scale, text);
	return leaf(number * scale, text) + number;
}

APART int print(char *out, size_t room, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(out, room, format, list);
	va_end(list);
	return length;
}

/* A part of it is cold. */
APART int checked(int number, int limit)
{
	if (__builtin_expect(number > limit, 0)) {
		fprintf(stderr, "%d is more than %d\n", number, limit);
		abort();
	}
	return leaf(number, "checked");
}

APART int to_checked(int number)
{
	sink = number;
	return checked(number, 50);
}

APART int deep(int number, const struct pair *from)
{
	struct pair mine = { number, from ? from->first : 0 };
	int sum;

	if (number == depth_most)
		return leaf(number, "deep");
	sum = deep(number + 1, &mine);
	return sum + mine.second;
}

static int compare(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;

	return leaf(one->first - other->first, "compare") ? one->first -
							    other->first : 0;
}

int main(int argc, char **argv)
{
	struct pair pairs[8];
	char text[100];
	int sum = 0;

	depth_most = 6 + argc;
	for (int i = 0; i < 40; i++) {
		sum += first(i) + either(i) + both_end(i) + even(i % 9);
		sum += keeps(i + 1, i);
		sum += through(i % 2 ? left : third, i);
		sum += many(i, 1, 2, 3, i, 5, i * 6, 7L * i);
		sum += of_numbers(i * 0.5, 2.5f, (unsigned char)i, -i);
		for (int j = 0; j < 8; j++)
			pairs[j] = (struct pair) { i ^ (j * 5), j };
		sum += of_pair(pairs[i % 8], &pairs[(i + 1) % 8]);
		sum += scaled(i, 3, "scaled") + scaled(i + 1, 3, argv[0]);
		sum += print(text, sizeof(text), "%d of %s", i, "forty");
		sum += checked(i, 40) + to_checked(i) + deep(i % 4, NULL);
		qsort(pairs, 8, sizeof(pairs[0]), compare);
	}
	printf("%d\n", sum);
	return 0;
}
