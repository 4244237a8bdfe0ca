/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep_old.c - see keep_old.h */
#include "tools/keep_old.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/trace_lock.h"
#include "tools/recording_files.h"

/* Looks; `*exists` if there is anything. */
static int look(const char *path, bool *exists, struct recording_files *files,
		struct failure *why)
{
	int rc = recording_files_look(files, path, why);

	*exists = !rc && (files->has_file || files->has_folder);
	return rc;
}

/* What waits as FILE.old~ will be removed. */
static int set_older_aside(struct keep_old *keep, struct failure *why)
{
	struct recording_files files;
	bool exists;
	int rc = look(keep->older, &exists, &files, why);

	if (!rc && exists)
		rc = recording_files_remove(keep->older, why);
	if (!rc)
		rc = look(keep->old, &exists, &files, why);
	if (rc || !exists)
		return rc;
	if (files.is_written || files.is_child_written)
		return failed(why, ERR_SYSTEM,
			      "cannot replace '%s': a process is still being"
			      " recorded there", keep->old);
	rc = recording_files_move(keep->old, keep->older, why);
	keep->has_older = !rc;
	return rc;
}

static int set_aside(struct keep_old *keep, struct failure *why)
{
	struct recording_files files;
	bool exists;
	int rc = look(keep->path, &exists, &files, why);

	if (rc || !exists)
		return rc;
	if (files.is_written)
		return failed(why, ERR_SYSTEM,
			      "cannot write a recording to '%s': another one is"
			      " still being written to it; -o gives this one"
			      " another name", keep->path);
	rc = set_older_aside(keep, why);
	if (!rc)
		rc = recording_files_move(keep->path, keep->old, why);
	keep->has_old = !rc;
	return rc;
}

int keep_old_begin(struct keep_old *keep, const char *path,
		   struct failure *why)
{
	int rc, names;

	*keep = (struct keep_old){ .path = path };
	if (asprintf(&keep->old, "%s.old", path) < 0)
		keep->old = NULL;
	if (asprintf(&keep->older, "%s.old~", path) < 0)
		keep->older = NULL;
	names = trace_lock_names(path);
	if (keep->old && keep->older)
		rc = set_aside(keep, why);
	else
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (names >= 0)
		close(names);
	if (rc)
		keep_old_end(keep);
	return rc;
}

void keep_old_end(struct keep_old *keep)
{
	bool is_new = keep->has_old && !access(keep->path, F_OK);

	if (is_new && keep->has_older)
		recording_files_remove(keep->older, NULL);
	if (!is_new && keep->has_old)
		recording_files_move(keep->old, keep->path, NULL);
	if (!is_new && keep->has_older)
		recording_files_move(keep->older, keep->old, NULL);
	free(keep->old);
	free(keep->older);
	*keep = (struct keep_old){ 0 };
}
