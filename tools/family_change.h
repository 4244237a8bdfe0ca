/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family_change.h - moves and removes FILE and FILE.d as one thing
 *
 * Only recordings of the family are removed.  If moving fails on the way, what
 * was moved is put back.
 *
 * Errors:     ERR_INPUT: it must not be changed; ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_FAMILY_CHANGE_H
#define CPREC_TOOLS_FAMILY_CHANGE_H

#include <stdbool.h>

struct failure;
struct family_files;

/*
 * Whether the family that was found at `path` may be changed: that must be
 * the first file itself.  What is being written may be only with `force`.
 */
int family_may_change(const struct family_files *files, const char *path,
		      bool force, struct failure *why);

/* The same where nothing is changed: a link to it will do. */
int family_may_be_copied(const struct family_files *files, const char *path,
			 struct failure *why);

/* The folder stays if there is anything else in it. */
int family_remove(const struct family_files *files, struct failure *why);

/* There must be nothing at `to`; it may be in another file system. */
int family_move(const struct family_files *files, const char *to,
		struct failure *why);

#endif
