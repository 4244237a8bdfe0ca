/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_tree.h - who descends from whom, in the order in which it is shown
 *
 * What recordings say of each other need not be true: processes whose parents
 * are not there, or who descend from each other in a circle, are roots.
 *
 * Ownership:  the lines are the caller's to free().
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_PROCESS_TREE_H
#define CPREC_TOOLS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct processes;

#define TREE_ROOT ((size_t)-1)

struct tree_line {
	size_t process;		/* its place in the list */
	size_t parent;		/* the line of its parent, or TREE_ROOT */
	size_t depth;		/* 0 of a root */
	bool is_last;		/* of its parent's children */
};

/* One line for each process: parents before children, those by time. */
int process_tree(struct tree_line **out, const struct processes *processes);

#endif
