/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_files.c - see family_files.h */
#include "formats/family_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/packed.h"

struct search {
	struct family_files *files;
	size_t room;
	struct trace_glance asked;	/* the file that was asked about */
};

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Takes `path` over. */
static int add(struct search *search, char *path, const struct family_file *file,
	       struct failure *why)
{
	struct family_files *files = search->files;
	struct family_file *added;
	const char *name;

	if (!path || array_room(files->list, files->count, search->room)) {
		free(path);
		return no_memory(why);
	}
	added = &files->list[files->count++];
	*added = *file;
	added->path = path;
	name = strrchr(path, '/');
	added->name = name ? name + 1 : path;
	added->is_this = trace_is_same_file(&file->glance, &search->asked);
	files->size += file->glance.size;
	return 0;
}

/* ------- the folder ------- */

/* A child that was killed at once has an empty file, which has only a name. */
static bool is_member(const struct search *search, int folder,
		      const char *name, struct family_file *file)
{
	bool is_named = family_name_parse(&file->member, name);
	int rc = trace_glance(&file->glance, folder, name, false, NULL);

	if (!is_named)
		file->member = (struct family_member){ 0 };
	file->is_empty = rc == ERR_TRUNCATED;
	return rc ? is_named && file->is_empty :
		    trace_is_same_family(&file->glance, &search->asked);
}

static int look_at(struct search *search, DIR *entries, const char *name,
		   struct failure *why)
{
	struct family_files *files = search->files;
	struct family_file file = { 0 };
	char *path = NULL;

	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    family_name_is_side(name))
		return 0;
	if (!is_member(search, dirfd(entries), name, &file)) {
		files->foreign++;
		return 0;
	}
	if (asprintf(&path, "%s/%s", files->folder, name) < 0)
		path = NULL;
	return add(search, path, &file, why);
}

static int look_into_folder(struct search *search, struct failure *why)
{
	struct family_files *files = search->files;
	struct dirent *entry;
	struct stat status;
	DIR *entries;
	int rc = 0;

	if (lstat(files->folder, &status))
		return 0;
	files->folder_is_link = S_ISLNK(status.st_mode);
	entries = opendir(files->folder);
	files->has_folder = entries != NULL;
	if (!entries)
		return 0;
	while (!rc && (entry = readdir(entries)))
		rc = look_at(search, entries, entry->d_name, why);
	closedir(entries);
	return rc;
}

/* FILE first; others by number, and those whose names say none. */
static int by_number(const void *left, const void *right)
{
	const struct family_file *a = left, *b = right;

	if (a->is_first != b->is_first)
		return a->is_first ? -1 : 1;
	if (a->member.pid != b->member.pid)
		return a->member.pid < b->member.pid ? -1 : 1;
	if (a->member.turn != b->member.turn)
		return a->member.turn < b->member.turn ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ------- packed ------- */

/* What the directory of a packed file says of each; of a damaged one, nothing. */
static int add_packed(struct search *search, const struct packed_member *member,
		      const char *asked, struct failure *why)
{
	struct family_files *files = search->files;
	struct family_file file = {
		.is_first = !*member->name,
		.glance = search->asked,
	};
	char *path;
	int rc;

	if (!family_name_parse(&file.member, member->name))
		file.member = (struct family_member){ 0 };
	file.glance.size = member->size;
	file.glance.changed = member->changed;
	if (asprintf(&path, "%s%s%s", files->first, *member->name ? "/" : "",
		     member->name) < 0)
		path = NULL;
	rc = add(search, path, &file, why);
	if (!rc)
		files->list[files->count - 1].is_this =
			!strcmp(asked, member->name);
	return rc;
}

static int list_packed(struct search *search, const char *asked,
		       struct failure *why)
{
	struct family_files *files = search->files;
	char none[] = "";
	struct packed_member whole = {
		.name = none,
		.size = search->asked.size,
		.changed = search->asked.changed,
	};
	struct packed packed = { 0 };
	int fd = open(files->first, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = fd < 0 ? failed(why, ERR_SYSTEM, "cannot open '%s': %s",
				 files->first, strerror(errno)) :
			  packed_read(&packed, fd, files->first, why);

	if (rc == ERR_TRUNCATED || rc == ERR_CORRUPT || rc == ERR_CHECKSUM ||
	    rc == ERR_VERSION)
		rc = add_packed(search, &whole, asked, why);
	for (size_t i = 0; i < packed.count && !rc; i++)
		rc = add_packed(search, &packed.list[i], asked, why);
	packed_release(&packed);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* `path` is that of a packed file, or leads into it. */
static int find_packed(struct search *search, const char *path,
		       struct failure *why)
{
	struct family_files *files = search->files;
	const char *name = "";
	char *packed = packed_of(path, &name);
	int rc = trace_glance(&search->asked, AT_FDCWD,
			      packed ? packed : path, true, why);

	files->is_packed = true;
	files->first = packed ? packed : strdup(path);
	files->folder = files->first ? strdup(files->first) : NULL;
	if (!rc && !files->folder)
		rc = no_memory(why);
	if (!rc)
		rc = list_packed(search, name, why);
	files->size = search->asked.size;
	return rc;
}

/* ------- the first one ------- */

/*
 * What is called "x.d/12.cpr" is of x's family only if x's file says so.  If
 * there is no x, the folder tells who belongs together.
 */
static int find_first(struct search *search, const char *path,
		      struct failure *why)
{
	struct family_files *files = search->files;
	struct family_file file = { .is_first = true };
	struct family_path names;
	int rc = trace_glance(&search->asked, AT_FDCWD, path, true, why);

	if (rc)
		return rc;
	if (family_path_find(&names, path))
		return no_memory(why);
	rc = names.is_member ? trace_glance(&file.glance, AT_FDCWD, names.first,
					    true, NULL) : 0;
	if (names.is_member && !rc &&
	    !trace_is_same_family(&file.glance, &search->asked)) {
		free(names.first);
		free(names.folder);
		names.first = strdup(path);
		names.folder = family_folder(path);
		names.is_member = false;
	}
	files->first = names.first;
	files->folder = names.folder;
	if (!files->first || !files->folder)
		return no_memory(why);
	if (rc)
		return 0;
	if (!names.is_member)
		file.glance = search->asked;
	return add(search, strdup(files->first), &file, why);
}

bool family_has_first(const struct family_files *files)
{
	return files->count && files->list[0].is_first;
}

int family_files_find(struct family_files *out, const char *path,
		      struct failure *why)
{
	struct search search = { .files = out };
	const char *name;
	char *packed = packed_of(path, &name);
	int rc;

	*out = (struct family_files){ 0 };
	if (packed || packed_is_at(path))
		rc = find_packed(&search, path, why);
	else
		rc = find_first(&search, path, why);
	free(packed);
	if (!rc && !out->is_packed)
		rc = look_into_folder(&search, why);
	if (rc) {
		family_files_release(out);
		return rc;
	}
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_number);
	return 0;
}

void family_files_release(struct family_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].path);
	free(files->list);
	free(files->first);
	free(files->folder);
	*files = (struct family_files){ 0 };
}
