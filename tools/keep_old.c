/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep_old.c - see keep_old.h */
#include "tools/keep_old.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

/* Whether there is something; only a regular file may be moved aside. */
static int look(const char *path, bool *exists, struct failure *why)
{
	struct stat status;

	*exists = lstat(path, &status) == 0;
	if (!*exists && errno == ENOENT)
		return 0;
	if (!*exists)
		return failed(why, ERR_SYSTEM, "cannot create '%s': %s", path,
			      strerror(errno));
	if (S_ISREG(status.st_mode))
		return 0;
	return failed(why, ERR_INPUT, "cannot write a recording to '%s': %s",
		      path, S_ISLNK(status.st_mode) ?
				    "it is a symbolic link" :
				    "it exists and is not a regular file");
}

/* Moves `from`, if it exists, to `to`. */
static int move(const char *from, const char *to, bool *moved,
		struct failure *why)
{
	int rc = look(from, moved, why);

	if (rc || !*moved)
		return rc;
	if (!rename(from, to))
		return 0;
	*moved = false;
	return failed(why, ERR_SYSTEM, "cannot rename '%s' to '%s': %s", from,
		      to, strerror(errno));
}

int keep_old_begin(struct keep_old *keep, const char *path,
		   struct failure *why)
{
	bool exists;
	int rc;

	*keep = (struct keep_old) { .path = path };
	if (asprintf(&keep->old, "%s.old", path) < 0)
		keep->old = NULL;
	if (asprintf(&keep->older, "%s.old~", path) < 0)
		keep->older = NULL;
	if (!keep->old || !keep->older) {
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
		goto undo;
	}
	rc = look(path, &exists, why);
	if (rc)
		goto undo;
	if (!exists)
		return 0;
	rc = move(keep->old, keep->older, &keep->has_older, why);
	if (rc)
		goto undo;
	rc = move(path, keep->old, &keep->has_old, why);
	if (rc)
		goto undo;
	return 0;

undo:
	keep_old_end(keep);
	return rc;
}

void keep_old_end(struct keep_old *keep)
{
	bool is_new = keep->has_old && !access(keep->path, F_OK);

	if (is_new && keep->has_older)
		unlink(keep->older);
	if (!is_new && keep->has_old)
		rename(keep->old, keep->path);
	if (!is_new && keep->has_older)
		rename(keep->older, keep->old);
	free(keep->old);
	free(keep->older);
	*keep = (struct keep_old) { 0 };
}
