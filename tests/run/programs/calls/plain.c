/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of all kinds, for calls.py; what it does is the same each time. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone, noipa))

struct pair { int a; double b; };
struct big { long v[5]; };
struct mixed { float x, y; char c; };
enum color { RED, GREEN = 5 };
struct bits { unsigned a : 3, b : 29; };

static jmp_buf env;
static int handled;

OWN static int fib(int n)
{
	int sum = n;

	if (n >= 2)
		sum = fib(n - 1) + fib(n - 2);	/* mark: sum */
	return sum;
}

OWN static void jumps(int n)
{
	if (n)
		jumps(n - 1);
	else
		longjmp(env, 7);
	handled++;
}

OWN static double mix(struct pair p, float f, struct big b, const char *s,
		      long double l, int x, char c)
{
	return p.a + p.b + (double)f + (double)b.v[4] + s[0] + (double)l + x + c;
}

OWN static struct pair make(int a)
{
	return (struct pair) { a, a * 2.0 };
}

OWN static struct big large(int a)
{
	return (struct big) { { a, 2, 3, 4, 5 } };
}

OWN static struct mixed blend(struct mixed m, enum color color)
{
	m.x += (float)color;
	return m;
}

OWN static struct bits pack(struct bits bits, unsigned char more)
{
	bits.a += more;
	return bits;
}

OWN static long many(long a, long b, long c, long d, long e, long f, short g,
		     _Bool h, const char *i)
{
	return a + b + c + d + e + f + g + h + i[1];
}

OWN static long double wide(long double x)
{
	return x * 2;
}

OWN static __int128 huge(__int128 x, int y)
{
	return x + y;
}

OWN static int last(int n)
{
	return n + 1;
}

/* Jumps to last(), if it is optimized. */
OWN static int tail(int n)
{
	return last(n * 2);
}

/* Each jumps to the other one. */
OWN static int odd(int n);

OWN static int even(int n)
{
	return n ? odd(n - 1) : 1;
}

OWN static int odd(int n)
{
	return n ? even(n - 1) : 0;
}

OWN static void nothing(void)
{
	handled++;
}

OWN static void on_signal(int number)
{
	handled += number;
	nothing();
}

OWN static int raises(int n)
{
	raise(SIGUSR1);
	return n + handled;
}

OWN static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

OWN static size_t texts(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	memcpy(copy, text, size);
	size = strlen(copy);
	free(copy);
	return size;
}

OWN static void ends(int status)
{
	exit(status);
}

OWN int unused(int n);
OWN int unused(int n)
{
	return n;
}

int main(void)
{
	int list[] = { 3, 1, 2 };

	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGUSR1, on_signal);
	fib(5);
	for (volatile int i = 0; i < 3; i++) {
		if (!setjmp(env))
			jumps(i);
	}
	/* The jump lands behind the call, not in a branch of its own. */
	if (!setjmp(env))
		jumps(1);
	nothing();
	mix(make(3), 2.5f, large(7), "text", 1.25L, 9, 'x');
	blend((struct mixed) { 1, 2, 'c' }, GREEN);
	pack((struct bits) { 2, 12345 }, 1);
	many(1, 2, 3, 4, 5, 6, -7, 1, "nine");
	wide(0.5L);
	huge((__int128)1 << 70, 3);
	tail(20);
	even(4);
	odd(3);
	raises(2);
	qsort(list, 3, sizeof(*list), compare);
	for (int i = 0; i < 3; i++)
		texts(i ? "one more" : "one");
	ends(3);
}
