/* SPDX-License-Identifier: GPL-2.0-or-later */
/* newest.c - see newest.h */
#include "tools/newest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/error.h"
#include "formats/family_path.h"
#include "formats/trace_glance.h"

struct newest {
	char *name;		/* NULL: none was found */
	struct timespec changed;
	size_t count;		/* of all that were found */
};

static bool has_suffix(const char *name)
{
	size_t size = strlen(name), suffix = strlen(TRACE_SUFFIX);

	return size > suffix && !strcmp(name + size - suffix, TRACE_SUFFIX);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec :
					a->tv_nsec > b->tv_nsec;
}

/* What is called so may be something else. */
static int look_at(struct newest *newest, const char *name)
{
	struct trace_glance glance;

	if (!has_suffix(name) ||
	    trace_glance(&glance, AT_FDCWD, name, true, NULL))
		return 0;
	newest->count++;
	if (newest->name && !is_later(&glance.changed, &newest->changed))
		return 0;
	free(newest->name);
	newest->changed = glance.changed;
	newest->name = strdup(name);
	return newest->name ? 0 : ERR_NO_MEMORY;
}

int newest_recording(char **out, size_t *count, struct failure *why)
{
	struct newest newest = { 0 };
	DIR *folder = opendir(".");
	struct dirent *entry;
	int rc = 0;

	*out = NULL;
	if (!folder)
		return failed(why, ERR_SYSTEM, "cannot look for recordings in"
			      " this folder: %s", strerror(errno));
	while (!rc && (entry = readdir(folder)))
		rc = look_at(&newest, entry->d_name);
	closedir(folder);
	if (rc)
		return failed(why, rc, "out of memory");
	if (!newest.name)
		return failed(why, ERR_NOT_FOUND, "no FILE is given, and no"
			      " recording (*" TRACE_SUFFIX ") is in this folder");
	*count = newest.count;
	*out = newest.name;
	return 0;
}
