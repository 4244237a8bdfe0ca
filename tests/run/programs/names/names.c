/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - variables of all kinds that C has; see names.py */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "mark.h"
#include "other.h"

struct node {
	int id;
	char name[16];
	struct node *next;
};

typedef struct node node_t;
typedef unsigned long handle;
typedef int (*operation)(int, const char *);

enum color { RED, GREEN = 5, BLUE };
enum level { LOW = -3, HIGH = 3 };
enum flags { FLAG_A = 1, FLAG_B = 2, FLAG_C = 4 };

union number {
	int i;
	float f;
	unsigned char bytes[4];
};

struct packed {
	unsigned a : 3;
	int b : 5;
	unsigned long c : 40;
	bool d : 1;
};

struct tree {
	struct tree *left, *right;
	union {
		int leaf;
		double weight;
	};
	struct {
		short x, y;
	} at;
	enum color color;
	const char *label;
};

static int add(int a, const char *text)
{
	return a + (int)strlen(text);
}

int counter = 42;
unsigned int big = 4000000000u;
long negative = -1234567890123;
unsigned long huge = 0xfedcba9876543210;
short small_number = -5;
signed char tiny = -1;
unsigned char byte = 200;
char letter = 'x', newline = '\n', quote = '\'', zero_char,
     escape = 27;
bool yes = true, no;
float third = 1.0f / 3;
double pi = 3.14159265358979;
long double precise = 1.1L;
union { unsigned char bytes[16]; long double value; } no_number = {
	{ 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x' }
}, denormal = { { [7] = 0x80 } }, signalling = { { 1, [7] = 0x80, 0xff, 0x7f } };
double infinite, not_a_number;
double complex z = 1.5 + 2.5 * I;
__int128 wide = (__int128)1 << 100;
wchar_t wide_char = L'w';
wchar_t wide_text[6] = L"wide";
enum color color = GREEN, odd_color = 17;
enum level level = LOW;
enum flags flags = FLAG_A | FLAG_C, no_flags, odd_flags = 9;
struct node table[3] = {
	{ 1, "one", NULL }, { 2, "two", &table[0] }, { 3, "three", &table[1] },
};
struct node *head = &table[2];
node_t named = { 9, "fifteen letters", NULL };
node_t *nothing;
int matrix[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
int zeros[100], mixed[20] = { 1, 2, 3 }, many[300];
int nearly[12] = { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8 };
char text[32] = "some text", empty[8], full[4] = { 'a', 'b', 'c', 'd' };
char repeated[64] = "aaaaaaaaaaaaaaaaaaaab";
char runs[] = "some letters before them: zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
	      "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
	      " and then others, so that all together are more than the two "
	      "hundred that are shown: abcdefghijklmnopqrstuvwxyz";
char marks[] = "\"\"\"\"\"\"\"\"\"\"\"\"''''''''''''";
char odd_text[] = "tab\t\"q\" \a\b\v\f\r\33e \0331 \177 \1\377";
uint8_t octets[4] = { 1, 2, 3, 255 };
const char *message = "hello\nworld", *null_text;
char *words[3] = { "alpha", "beta", NULL };
char **list = words;
void *pointer = &counter;
int *inside = &mixed[4];
union number number = { 0x3f800000 };
struct packed packed = { 5, -3, 123456789012, true };
struct tree leaf = { .leaf = 3, .at = { 1, -2 }, .color = BLUE,
		     .label = "leaf" };
struct tree root = { .left = &leaf, .weight = 2.5, .color = RED };
struct { int a; struct { int b; } inner; } nameless = { 1, { 2 } };
struct empty_struct { } nothing_in_it;
operation call = add;
handle handles[2] = { 10, 20 };
volatile int shared = 3;
const int constant = 8;
static int hidden = -7;
__thread int own = 6;

static int calls(int by)
{
	static int count = 100;

	count += by;
	return count;
}

__attribute__((noinline)) static long stop(int n, struct node *list_head,
					   const char *why, double factor)
{
	struct node local = { n, "local", list_head };
	int squares[n];
	long sum = 0;
	char counter_text[] = "inner";

	for (int i = 0; i < n; i++)
		squares[i] = i * i;
	for (int i = 0; i < n; i++)
		sum += squares[i];
	{
		long hidden = sum * 2;

		MARK();
		sum += hidden;
	}
	return sum + local.id + counter_text[0] + why[0] + (long)factor;
}

int main(int argc, char **argv)
{
	double zero = 0;

	infinite = 1 / zero;
	not_a_number = zero * infinite;
	many[250] = calls(5);
	own += argc;
	return stop(6, head, "because", 2.5) == 0 ||
	       other(argv[0][0]) == 0 || hidden + call(1, "x") == 0 ||
	       own == 0;
}
