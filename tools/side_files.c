/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_files.c - see side_files.h */
#include "tools/side_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "formats/family_files.h"
#include "formats/family_path.h"
#include "tools/messages.h"

static void say_lost(const char *what, const char *path, int error)
{
	say_note("cannot %s the bookmarks '%s': %s", what, path,
		 strerror(error));
}

/* ------- removing ------- */

void side_file_remove(const char *recording)
{
	char *path = family_side_file(recording, NULL);
	char *marks = family_bookmarks_file(recording);

	if (path)
		unlink(path);
	if (marks && unlink(marks) && errno != ENOENT && errno != ENOTDIR)
		say_lost("remove", marks, errno);
	free(path);
	free(marks);
}

/* ------- moving ------- */

/* What an earlier recording may have left there is of no use. */
static void move_bookmarks(const char *from, const char *to)
{
	if (!from || !to || !rename(from, to))
		return;
	if (errno != ENOENT)
		say_lost("move", from, errno);
	else
		unlink(to);
}

void side_file_move(const char *from, const char *to)
{
	char *path = family_side_file(from, NULL);
	char *to_path = family_side_file(to, NULL);
	char *marks = family_bookmarks_file(from);
	char *to_marks = family_bookmarks_file(to);

	if (path && to_path && rename(path, to_path))
		unlink(to_path);
	move_bookmarks(marks, to_marks);
	free(path);
	free(to_path);
	free(marks);
	free(to_marks);
}

/* What it is called stands beside the packed file, which is not there now. */
static char *packed_path(const char *packed, const char *name)
{
	char *path;

	return asprintf(&path, "%s.%s.marks", packed, name) < 0 ? NULL : path;
}

void side_files_move_packed(const struct family_files *files, const char *to)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct family_file *file = &files->list[i];
		char *from = packed_path(files->first, file->name);
		char *marks = packed_path(to, file->name);

		if (!file->is_first)
			move_bookmarks(from, marks);
		free(from);
		free(marks);
	}
}

/* ------- copying ------- */

static int copy_file(int from, const char *to)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error = 0;
	ssize_t sent;

	if (fd < 0)
		return errno;
	do {
		sent = sendfile(fd, from, NULL, 1 << 20);
		if (sent < 0)
			error = errno;
	} while (sent > 0);
	if (close(fd) && !error)
		error = errno;
	return error;
}

void side_file_copy(const char *from, const char *to)
{
	char *marks = family_bookmarks_file(from);
	char *to_marks = family_bookmarks_file(to);
	int fd = -1, error = 0;

	if (marks && to_marks) {
		fd = open(marks, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		unlink(to_marks);
	}
	if (fd >= 0) {
		error = copy_file(fd, to_marks);
		close(fd);
	}
	if (error)
		say_lost("copy", marks, error);
	free(marks);
	free(to_marks);
}
