/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorts.c - callbacks of the C library, recursion, inlined functions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	int value;
	struct node *left, *right;
};

static struct node nodes[300];
static unsigned seed = 1;

static inline __attribute__((always_inline)) unsigned draw(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

static inline __attribute__((always_inline)) int order(int a, int b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *a, const void *b)
{
	return order(*(const int *)a, *(const int *)b);
}

static __attribute__((noinline)) struct node *insert(struct node *tree,
						     struct node *node)
{
	if (!tree)
		return node;
	if (order(node->value, tree->value) < 0)
		tree->left = insert(tree->left, node);
	else
		tree->right = insert(tree->right, node);
	return tree;
}

static __attribute__((noinline)) int depth(const struct node *tree)
{
	int left, right;

	if (!tree)
		return 0;
	left = depth(tree->left);
	right = depth(tree->right);
	return 1 + (left > right ? left : right);
}

/* Its frame has a size that only it knows. */
static __attribute__((noinline)) int sorted(int count)
{
	int list[count], sum = 0;

	for (int i = 0; i < count; i++)
		list[i] = (int)draw();
	qsort(list, (size_t)count, sizeof(list[0]), compare);
	for (int i = 0; i < count; i += 7)
		sum ^= list[i];
	return sum;
}

int main(void)
{
	struct node *tree = NULL;
	char text[200];

	for (int i = 0; i < 300; i++) {
		nodes[i].value = (int)draw();
		tree = insert(tree, &nodes[i]);
	}
	snprintf(text, sizeof(text), "%d %d %g", depth(tree), sorted(200),
		 seed / 7.0);
	puts(text);
	return strlen(text) == 0;
}
