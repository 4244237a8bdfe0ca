/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_change.c - see family_change.h */
#include "tools/family_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_files.h"
#include "tools/copy_bytes.h"
#include "tools/side_files.h"

/* ------- may it be? ------- */

static int is_part(const struct family_files *files, const char *path,
		   struct failure *why)
{
	if (family_has_first(files) && files->list[0].is_this)
		return 0;
	return failed(why, ERR_INPUT, "'%s' is a part of '%s'", path,
		      files->first);
}

static int is_written(const struct family_files *files, const char *more,
		      struct failure *why)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].glance.is_locked)
			return failed(why, ERR_INPUT,
				      "'%s' is still being written%s",
				      files->list[i].path, more);
	return 0;
}

int family_may_be_copied(const struct family_files *files, const char *path,
			 struct failure *why)
{
	int rc = is_part(files, path, why);

	return rc ? rc : is_written(files, "", why);
}

int family_may_change(const struct family_files *files, const char *path,
		      bool force, struct failure *why)
{
	struct stat status;
	int rc;

	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		return failed(why, ERR_INPUT,
			      "'%s' is a symbolic link; the recording is '%s'",
			      path, files->first);
	rc = is_part(files, path, why);
	if (rc)
		return rc;
	if (files->folder_is_link)
		return failed(why, ERR_INPUT, "'%s' is a symbolic link",
			      files->folder);
	if (force)
		return 0;
	return is_written(files, " (--force: all the same)", why);
}

/* ------- removing ------- */

static int cannot(const char *what, const char *path, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot %s '%s': %s", what, path,
		      strerror(errno));
}

static int remove_others(const struct family_files *files, struct failure *why)
{
	int folder = open(files->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						 O_CLOEXEC);
	int rc = 0;

	if (folder < 0)
		return cannot("look into", files->folder, why);
	for (size_t i = 0; i < files->count && !rc; i++) {
		const struct family_file *file = &files->list[i];

		if (!file->is_first && unlinkat(folder, file->name, 0) &&
		    errno != ENOENT)
			rc = cannot("remove", file->path, why);
		side_file_remove(file->path);
	}
	close(folder);
	return rc;
}

/* The first one last: as long as it is there, this can be done again. */
int family_remove(const struct family_files *files, struct failure *why)
{
	int rc = files->has_folder ? remove_others(files, why) : 0;

	if (rc)
		return rc;
	if (files->has_folder && rmdir(files->folder) && errno != ENOTEMPTY &&
	    errno != EEXIST && errno != ENOENT)
		return cannot("remove", files->folder, why);
	/* Of a packed file, what it has is known as long as it is there. */
	for (size_t i = 0; i < files->count && files->is_packed; i++)
		side_file_remove(files->list[i].path);
	if (family_has_first(files) && unlink(files->first) && errno != ENOENT)
		return cannot("remove", files->first, why);
	side_file_remove(files->first);
	return 0;
}

/* ------- moving ------- */

/* A file system that cannot tell whether there is one replaces it. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	return errno == EINVAL || errno == ENOSYS ? rename(from, to) : -1;
}

static int cannot_move(const char *from, const char *to, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot rename '%s' to '%s': %s", from,
		      to, strerror(errno));
}

/* `*elsewhere`: they are not in one file system. */
static int rename_both(const struct family_files *files, const char *to,
		       const char *to_folder, bool *elsewhere,
		       struct failure *why)
{
	int rc;

	*elsewhere = false;
	if (files->has_folder && rename_new(files->folder, to_folder)) {
		*elsewhere = errno == EXDEV;
		return cannot_move(files->folder, to_folder, why);
	}
	if (!rename_new(files->first, to)) {
		side_file_move(files->first, to);
		if (files->is_packed)
			side_files_move_packed(files, to);
		return 0;
	}
	*elsewhere = errno == EXDEV;
	rc = cannot_move(files->first, to, why);
	if (files->has_folder)
		rename(to_folder, files->folder);
	return rc;
}

static int copy_one(const char *path, uint64_t size,
		    const struct timespec *changed, const char *to,
		    struct failure *why)
{
	struct bytes_source from = {
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW),
		.path = path,
		.size = size,
	};
	int rc;

	if (from.fd < 0)
		return cannot("open", path, why);
	rc = copy_file(to, &from, changed, why);
	close(from.fd);
	return rc;
}

static char *copy_name(const struct family_file *file, const char *to,
		       const char *to_folder)
{
	char *path;

	if (file->is_first)
		return strdup(to);
	return asprintf(&path, "%s/%s", to_folder, file->name) < 0 ? NULL :
								    path;
}

/* Copies all, and removes what it copied if one cannot be. */
static int copy_all(const struct family_files *files, const char *to,
		    const char *to_folder, struct failure *why)
{
	size_t done = 0;
	int rc = 0;

	if (files->has_folder && mkdir(to_folder, 0700))
		return cannot("create", to_folder, why);
	while (done < files->count && !rc) {
		const struct family_file *file = &files->list[done];
		char *path = copy_name(file, to, to_folder);

		rc = path ? copy_one(file->path, file->glance.size,
				     &file->glance.changed, path, why) :
			    failed(why, ERR_NO_MEMORY, "out of memory");
		if (!rc)
			side_file_copy(file->path, path);
		free(path);
		done += !rc;
	}
	while (rc && done) {
		char *path = copy_name(&files->list[--done], to, to_folder);

		if (path) {
			unlink(path);
			side_file_remove(path);
		}
		free(path);
	}
	if (rc && files->has_folder)
		rmdir(to_folder);
	return rc;
}

static void copy_bookmarks(const struct family_file *file, const char *to)
{
	char *path = copy_name(file, to, to);

	if (path)
		side_file_copy(file->path, path);
	free(path);
}

static int move_packed(const struct family_files *files, const char *to,
		       struct failure *why)
{
	int rc = copy_one(files->first, files->size,
			  &files->list[0].glance.changed, to, why);

	for (size_t i = 0; i < files->count && !rc; i++)
		copy_bookmarks(&files->list[i], to);
	return rc;
}

/* What grows meanwhile would not be copied whole. */
static int move_elsewhere(const struct family_files *files, const char *to,
			  const char *to_folder, struct failure *why)
{
	int rc = is_written(files, "", why);

	if (!rc && files->is_packed)
		rc = move_packed(files, to, why);
	else if (!rc)
		rc = copy_all(files, to, to_folder, why);
	return rc ? rc : family_remove(files, why);
}

int family_move(const struct family_files *files, const char *to,
		struct failure *why)
{
	char *to_folder = family_folder(to);
	bool elsewhere;
	int rc;

	if (!to_folder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = rename_both(files, to, to_folder, &elsewhere, why);
	if (rc && elsewhere)
		rc = move_elsewhere(files, to, to_folder, why);
	free(to_folder);
	return rc;
}
