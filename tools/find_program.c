/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find_program.c - see find_program.h */
#include "tools/find_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without PATH: what execvp(3) takes then. */
#define PATH_DEFAULT "/bin:/usr/bin"

/* Returns 0 if a program is there, or what errno would be. */
static int check(const char *path)
{
	struct stat file;

	if (stat(path, &file))
		return errno;
	if (S_ISDIR(file.st_mode))
		return EISDIR;
	if (!S_ISREG(file.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

static int search(char path[PATH_MAX], const char *name)
{
	const char *folders = getenv("PATH");
	int found = ENOENT;

	if (!folders)
		folders = PATH_DEFAULT;
	for (;;) {
		int size = (int)strcspn(folders, ":"), length, rc;

		/* An empty one is where we are. */
		length = snprintf(path, PATH_MAX, "%.*s%s/%s", size, folders,
				  size ? "" : ".", name);
		rc = length < PATH_MAX ? check(path) : ENAMETOOLONG;
		if (!rc)
			return 0;
		if (rc == EACCES)
			found = rc;
		if (!folders[size])
			return found;
		folders += size + 1;
	}
}

int find_program(char path[PATH_MAX], const char *name)
{
	if (!*name)
		return ENOENT;
	if (!strchr(name, '/'))
		return search(path, name);
	if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
		return ENAMETOOLONG;
	return check(path);
}
