/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_tree.c - see process_tree.h */
#include "tools/process_tree.h"

#include <stdint.h>
#include <stdlib.h>

#include "formats/error.h"
#include "tools/processes.h"

#define NONE TREE_ROOT

struct node {
	const struct process *process;
	size_t place;		/* in the list of processes */
	size_t parent;		/* node, or NONE */
	size_t child, next;	/* its first child; its parent's next one */
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_start(const struct process *a, const struct process *b)
{
	return a->started < b->started ? -1 : a->started > b->started;
}

/* By number, so that parents are found; then in the order in which they were. */
static int by_number(const void *left, const void *right)
{
	const struct process *a = ((const struct node *)left)->process;
	const struct process *b = ((const struct node *)right)->process;
	int order = compare(a->pid, b->pid);

	if (!order)
		order = compare(a->turn, b->turn);
	return order ? order : by_start(a, b);
}

/*
 * The process that made this one: of several with that number, the newest that
 * had begun by then.
 */
static size_t find_parent(const struct node *nodes, size_t count, size_t child)
{
	const struct process *process = nodes[child].process;
	size_t low = 0, high = count, found = NONE;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (nodes[middle].process->pid < process->origin.parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count; low++) {
		const struct process *parent = nodes[low].process;

		if (parent->pid != process->origin.parent)
			break;
		if (low != child &&
		    (found == NONE || parent->started <= process->started))
			found = low;
	}
	return found;
}

/* Whether `node` descends from itself: then it is made a root. */
static bool is_in_circle(const struct node *nodes, size_t count, size_t node)
{
	size_t at = nodes[node].parent;

	for (size_t i = 0; at != NONE && i < count; i++) {
		if (at == node)
			return true;
		at = nodes[at].parent;
	}
	return false;
}

/* ------- children in their order ------- */

/* Those of which nothing is known come last. */
static bool is_before(const struct node *a, const struct node *b)
{
	int order = compare(!a->process->name, !b->process->name);

	if (!order)
		order = compare(a->process->origin.time,
				b->process->origin.time);
	if (!order)
		order = by_start(a->process, b->process);
	return order ? order < 0 : a->place < b->place;
}

struct pair {
	const struct node *node;
	size_t number;
};

/* Children of one parent together, the last ones first. */
static int backwards(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->node->parent != b->node->parent)
		return a->node->parent < b->node->parent ? -1 : 1;
	if (a->number == b->number)
		return 0;
	return is_before(a->node, b->node) ? 1 : -1;
}

/* Returns the first root. */
static size_t link_children(struct node *nodes, size_t count,
			    struct pair *pairs)
{
	size_t root = NONE;

	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct pair){ &nodes[i], i };
	qsort(pairs, count, sizeof(*pairs), backwards);
	for (size_t i = 0; i < count; i++) {
		struct node *node = &nodes[pairs[i].number];
		size_t *list = node->parent == NONE ?
				       &root : &nodes[node->parent].child;

		node->next = *list;
		*list = pairs[i].number;
	}
	return root;
}

/* ------- lines ------- */

/* Down to the first child; else to the next one of the nearest ancestor. */
static void write_lines(struct tree_line *lines, const struct node *nodes,
			size_t root)
{
	size_t node = root, line = 0, parent = TREE_ROOT, depth = 0;

	while (node != NONE) {
		lines[line] = (struct tree_line){
			.process = nodes[node].place,
			.parent = parent,
			.depth = depth,
			.is_last = nodes[node].next == NONE,
		};
		if (nodes[node].child != NONE) {
			parent = line++;
			depth++;
			node = nodes[node].child;
			continue;
		}
		line++;
		while (nodes[node].next == NONE && nodes[node].parent != NONE) {
			node = nodes[node].parent;
			parent = lines[parent].parent;
			depth--;
		}
		node = nodes[node].next;
	}
}

int process_tree(struct tree_line **out, const struct processes *processes)
{
	size_t count = processes->count;
	struct node *nodes = calloc(count + 1, sizeof(*nodes));
	struct pair *pairs = calloc(count + 1, sizeof(*pairs));

	*out = calloc(count + 1, sizeof(**out));
	if (!nodes || !pairs || !*out) {
		free(nodes);
		free(pairs);
		free(*out);
		return ERR_NO_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		nodes[i] = (struct node){ &processes->list[i], i, NONE, NONE,
					  NONE };
	qsort(nodes, count, sizeof(*nodes), by_number);
	for (size_t i = 0; i < count; i++)
		if (nodes[i].process->origin.parent)
			nodes[i].parent = find_parent(nodes, count, i);
	for (size_t i = 0; i < count; i++)
		if (is_in_circle(nodes, count, i))
			nodes[i].parent = NONE;
	write_lines(*out, nodes, link_children(nodes, count, pairs));
	free(nodes);
	free(pairs);
	return 0;
}
