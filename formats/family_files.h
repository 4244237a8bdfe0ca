/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family_files.h - which files are the recordings of one family
 *
 * FILE, and in the folder FILE.d those that have its identifier.  What else
 * lies there is never opened as a recording: links, pipes, recordings of others.
 *
 * Ownership:  family_files_release() frees what family_files_find() fills in.
 * Errors:     ERR_SYSTEM, ERR_CORRUPT (it is no recording), ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_FAMILY_FILES_H
#define CPREC_FORMATS_FAMILY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/family_path.h"
#include "formats/trace_glance.h"

struct failure;

struct family_file {
	char *path;
	const char *name;	/* in the folder; in `path` */
	struct family_member member;	/* as its name says; pid 0: it does not */
	struct trace_glance glance;
	bool is_empty;		/* not even its header was written */
	bool is_first;		/* FILE */
	bool is_this;		/* the one that was asked about */
};

struct family_files {
	char *first;		/* FILE */
	char *folder;		/* FILE.d */
	bool is_packed;		/* FILE has all of them, and there is no folder */
	bool has_folder;
	bool folder_is_link;	/* what it leads to is looked at */
	struct family_file *list;	/* FILE, if it is there; then by number */
	size_t count;
	size_t foreign;		/* other things in the folder */
	uint64_t size;		/* of all */
};

/* The family of the recording at `path`, which may be FILE or any other. */
int family_files_find(struct family_files *out, const char *path,
		      struct failure *why);
void family_files_release(struct family_files *files);

/* Whether FILE itself is there; it is then the first of the list. */
bool family_has_first(const struct family_files *files);

#endif
