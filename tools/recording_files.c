/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording_files.c - see recording_files.h */
#include "tools/recording_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_path.h"
#include "formats/trace_lock.h"
#include "tools/side_files.h"

/* ------- looking ------- */

static int not_a_recording(const char *path, const char *what,
			   const struct stat *status, struct failure *why)
{
	return failed(why, ERR_INPUT, "cannot write a recording to '%s': %s",
		      path, S_ISLNK(status->st_mode) ? "it is a symbolic link" :
						       what);
}

static int look_at_file(struct recording_files *out, const char *path,
			struct failure *why)
{
	struct stat status;

	out->has_file = lstat(path, &status) == 0;
	if (!out->has_file && errno == ENOENT)
		return 0;
	if (!out->has_file)
		return failed(why, ERR_SYSTEM, "cannot create '%s': %s", path,
			      strerror(errno));
	if (!S_ISREG(status.st_mode))
		return not_a_recording(path,
				       "it exists and is not a regular file",
				       &status, why);
	out->is_written = trace_is_locked_at(AT_FDCWD, path);
	return 0;
}

/* The next name in a folder that is not "." or ".."; NULL at the end. */
static const char *next_name(DIR *entries)
{
	const struct dirent *entry;

	do {
		entry = readdir(entries);
	} while (entry && (!strcmp(entry->d_name, ".") ||
			   !strcmp(entry->d_name, "..")));
	return entry ? entry->d_name : NULL;
}

static int cannot_look(const char *folder, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot look into '%s': %s", folder,
		      strerror(errno));
}

static int look_inside(struct recording_files *out, const char *folder,
		       struct failure *why)
{
	DIR *entries = opendir(folder);
	struct family_member member;
	const char *name;
	int rc = 0;

	if (!entries)
		return cannot_look(folder, why);
	while (!rc && (name = next_name(entries))) {
		if (family_name_is_side(name))
			continue;
		if (!family_name_parse(&member, name))
			rc = failed(why, ERR_INPUT,
				    "the folder '%s' would be moved as"
				    " recordings, but '%s' in it is none",
				    folder, name);
		else
			out->is_child_written |=
				trace_is_locked_at(dirfd(entries), name);
	}
	closedir(entries);
	return rc;
}

static int look_at_folder(struct recording_files *out, const char *folder,
			  struct failure *why)
{
	struct stat status;

	out->has_folder = lstat(folder, &status) == 0;
	if (!out->has_folder)
		return 0;
	if (!S_ISDIR(status.st_mode))
		return not_a_recording(folder, "it exists and is not a folder",
				       &status, why);
	return look_inside(out, folder, why);
}

int recording_files_look(struct recording_files *out, const char *path,
			 struct failure *why)
{
	char *folder;
	int rc;

	*out = (struct recording_files){ 0 };
	rc = look_at_file(out, path, why);
	if (rc)
		return rc;
	folder = family_folder(path);
	if (!folder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = look_at_folder(out, folder, why);
	free(folder);
	return rc;
}

/* ------- moving ------- */

/* What is not there need not be moved. */
static int move(const char *from, const char *to, struct failure *why)
{
	if (!rename(from, to) || errno == ENOENT)
		return 0;
	return failed(why, ERR_SYSTEM, "cannot rename '%s' to '%s': %s", from,
		      to, strerror(errno));
}

int recording_files_move(const char *from, const char *to,
			 struct failure *why)
{
	char *folder = family_folder(from), *to_folder = family_folder(to);
	int rc;

	if (!folder || !to_folder)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else
		rc = move(from, to, why);
	if (!rc) {
		rc = move(folder, to_folder, why);
		if (rc)
			rename(to, from);
		else
			side_file_move(from, to);
	}
	free(folder);
	free(to_folder);
	return rc;
}

/* ------- removing ------- */

static int cannot_remove(const char *path, struct failure *why)
{
	if (errno == ENOENT)
		return 0;
	return failed(why, ERR_SYSTEM, "cannot remove '%s': %s", path,
		      strerror(errno));
}

static int remove_folder(const char *folder, struct failure *why)
{
	DIR *entries = opendir(folder);
	struct family_member member;
	const char *name;

	if (!entries)
		return errno == ENOENT ? 0 : cannot_look(folder, why);
	while ((name = next_name(entries)))
		if (family_name_parse(&member, name) ||
		    family_name_is_side(name))
			unlinkat(dirfd(entries), name, 0);
	closedir(entries);
	return rmdir(folder) ? cannot_remove(folder, why) : 0;
}

int recording_files_remove(const char *path, struct failure *why)
{
	char *folder = family_folder(path);
	int rc;

	if (!folder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = unlink(path) ? cannot_remove(path, why) : 0;
	side_file_remove(path);
	if (!rc)
		rc = remove_folder(folder, why);
	free(folder);
	return rc;
}
