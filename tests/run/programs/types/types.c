/* SPDX-License-Identifier: GPL-2.0-or-later */
/* types.c - types of C, and code whose lines are asked for */
#include <stdio.h>

struct opaque;
typedef struct node node_t;
typedef node_t *node_p;
typedef unsigned long size_type;
typedef size_type other_size;
typedef int (*callback)(const char *, node_t *, ...);
enum color { RED, GREEN = 5, BLUE };
typedef enum { A = -1, B, C = 7 } choice;
union either {
	int i;
	float f;
	char b[4];
};
struct node {
	int id;
	unsigned flags : 3;
	unsigned more : 5;
	struct node *next;
	node_p prev;
	char name[16];
	int grid[2][3];
	union {
		int a;
		struct {
			short lo, hi;
		} parts;
	};
	struct {
		int x;
		struct {
			int deep;
		} in;
	} named;
	callback called;
	enum color color;
	const volatile int fixed;
	const char *const text;
	void (*plain)(void);
	int (*rows)[4];
	choice choice;
	union either either;
	int (*functions[3])(int);
	_Bool ok;
	long double wide;
};
typedef struct {
	int x, y;
} point;

point pt = { 1, 2 };
struct node first, nodes[3];
node_p head = &first;
struct opaque *hidden;
other_size length;
char *const *words;

/* No code is here. */

static int work(const char *text, node_t *node, ...)
{
	return node->id + (int)text[0];
}

struct node *find(int id)
{
	return id ? head : NULL;
}

static void nothing(void)
{
}

int sum(point p, const point *q, int (*f)(int))
{
	int both = p.x + q->y;
	return both + (f != NULL);
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	first.called = work;
	nothing();
	printf("%d\n", sum(pt, &pt, NULL));
	return find(0) != NULL;
}
