/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep_old.h - makes room for a new recording without losing the old one
 *
 * FILE is renamed to FILE.old before the new one is written, and the folder of
 * its children (formats/family_path.h) goes with it: FILE.d to FILE.old.d.
 * Until it is certain that there is a new one, an earlier FILE.old waits as
 * FILE.old~, so that everything can be put back.  What is still being written
 * is neither replaced nor removed.
 *
 * Ownership:  keep_old_end() frees.
 * Errors:     ERR_INPUT (FILE is not a regular file, or a folder has other
 *             things than recordings in it), ERR_SYSTEM, ERR_NO_MEMORY; then
 *             nothing has changed.
 */
#ifndef CPREC_TOOLS_KEEP_OLD_H
#define CPREC_TOOLS_KEEP_OLD_H

#include <stdbool.h>

struct failure;

struct keep_old {
	const char *path;	/* borrowed */
	char *old, *older;
	bool has_old;		/* FILE.old was FILE */
	bool has_older;		/* FILE.old~ was FILE.old */
};

int keep_old_begin(struct keep_old *keep, const char *path,
		   struct failure *why);

/* Puts everything back if there is no new FILE. */
void keep_old_end(struct keep_old *keep);

#endif
