/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child_ends.c - see child_ends.h */
#include "tools/child_ends.h"

#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/print.h"
#include "tools/process_tree.h"
#include "tools/processes.h"

/* A process and its parent, by their places in the list. */
struct pair {
	size_t parent, child;
};

static int by_parent(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	return a->parent < b->parent ? -1 : a->parent > b->parent;
}

static size_t make_pairs(struct pair *pairs, const struct tree_line *lines,
			 size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].parent == TREE_ROOT)
			continue;
		pairs[found++] = (struct pair){
			.parent = lines[lines[i].parent].process,
			.child = lines[i].process,
		};
	}
	qsort(pairs, found, sizeof(*pairs), by_parent);
	return found;
}

/* It did not end before it was made, however seldom a clock was looked at. */
static void set_end(const struct process *child, struct recording *parent)
{
	uint64_t time;

	if (!parent || !child->ended ||
	    recording_time_at_clock(parent, child->ended, &time, NULL))
		json_object_set_new(child->object, "until", json_null());
	else
		json_set_count(child->object, "until",
			       time > child->origin.time ? time :
							   child->origin.time);
}

int child_ends(const struct processes *processes,
		 const struct tree_line *lines, struct failure *why)
{
	struct pair *pairs = calloc(processes->count + 1, sizeof(*pairs));
	struct recording *parent = NULL;
	size_t count;

	if (!pairs)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	count = make_pairs(pairs, lines, processes->count);
	for (size_t i = 0; i < count; i++) {
		const struct process *process =
			&processes->list[pairs[i].parent];

		if (!i || pairs[i].parent != pairs[i - 1].parent) {
			recording_close(parent);
			if (recording_open(&parent, process->file->path, NULL))
				parent = NULL;
		}
		set_end(&processes->list[pairs[i].child], parent);
	}
	recording_close(parent);
	free(pairs);
	return 0;
}
