/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_files.h - FILE and FILE.d as one thing: renamed, removed together
 *
 * Neither follows symbolic links.  A folder counts only if nothing but
 * recordings (formats/family_path.h) is in it.
 *
 * Errors:     ERR_INPUT (it is something else), ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_RECORDING_FILES_H
#define CPREC_TOOLS_RECORDING_FILES_H

#include <stdbool.h>

struct failure;

/* What there is of a recording. */
struct recording_files {
	bool has_file, has_folder;
	bool is_written;	/* the first process's, now */
	bool is_child_written;	/* another process's */
};

/* Fails if what there is is no recording. */
int recording_files_look(struct recording_files *out, const char *path,
			 struct failure *why);

/* What there is of `from` becomes `to`, of which there is nothing. */
int recording_files_move(const char *from, const char *to,
			 struct failure *why);

/* Removes what there is. */
int recording_files_remove(const char *path, struct failure *why);

#endif
