/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child_ends.h - when processes ended, in the time of their parents
 *
 * Recordings have nothing in common but the clock on the wall, which both looked
 * at now and then: so it is some milliseconds off where the parent did not wait.
 */
#ifndef CPREC_TOOLS_CHILD_ENDS_H
#define CPREC_TOOLS_CHILD_ENDS_H

struct failure;
struct processes;
struct tree_line;

/*
 * Sets "until" of all processes that have a parent, null where it is not known.
 * Errors: ERR_NO_MEMORY.
 */
int child_ends(const struct processes *processes,
		 const struct tree_line *lines, struct failure *why);

#endif
