/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_path.c - see family_path.h */
#include "formats/family_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "formats/packed.h"

#define SIDE_SUFFIX ".idx"
#define BOOKMARKS_SUFFIX ".marks"

/* ------- names in the folder ------- */

void family_name(char name[FAMILY_NAME_ROOM],
		 const struct family_member *member)
{
	int size = snprintf(name, FAMILY_NAME_ROOM, "%" PRIu32, member->pid);

	if (member->turn > 1)
		size += snprintf(name + size, FAMILY_NAME_ROOM - (size_t)size,
				 "-%" PRIu32, member->turn);
	snprintf(name + size, FAMILY_NAME_ROOM - (size_t)size, TRACE_SUFFIX);
}

/* A number without zeros in front; what follows it. */
static const char *take_number(const char *text, uint32_t *out)
{
	uint64_t number = 0;

	if (*text < '1' || *text > '9')
		return NULL;
	for (; '0' <= *text && *text <= '9'; text++) {
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > UINT32_MAX)
			return NULL;
	}
	*out = (uint32_t)number;
	return text;
}

bool family_name_parse(struct family_member *out, const char *name)
{
	const char *rest = take_number(name, &out->pid);

	out->turn = 1;
	if (rest && *rest == '-') {
		rest = take_number(rest + 1, &out->turn);
		if (rest && out->turn == 1)
			return false;
	}
	return rest && !strcmp(rest, TRACE_SUFFIX);
}

/* ------- paths ------- */

char *family_folder(const char *first)
{
	char *folder;

	return asprintf(&folder, "%s" FAMILY_FOLDER_SUFFIX, first) < 0 ?
		       NULL : folder;
}

/* "FILE.idx"; beside a packed file, if it is in one. */
static char *beside(const char *recording, const char *suffix,
		    const char *part)
{
	const char *name = NULL, *dot = *part ? "." : "";
	char *packed = packed_of(recording, &name), *path = NULL;
	int size;

	if (packed)
		size = asprintf(&path, "%s.%s%s%s%s", packed, name, suffix,
				dot, part);
	else
		size = asprintf(&path, "%s%s%s%s", recording, suffix, dot,
				part);
	free(packed);
	return size < 0 ? NULL : path;
}

char *family_side_file(const char *recording, const char *part)
{
	return beside(recording, SIDE_SUFFIX, part ? part : "");
}

char *family_bookmarks_file(const char *recording)
{
	return beside(recording, BOOKMARKS_SUFFIX, "");
}

bool family_name_is_side(const char *name)
{
	const char *suffix = strstr(name, TRACE_SUFFIX SIDE_SUFFIX);
	char member[FAMILY_NAME_ROOM];
	struct family_member found;
	size_t size;

	if (!suffix)
		suffix = strstr(name, TRACE_SUFFIX BOOKMARKS_SUFFIX);
	if (!suffix)
		return false;
	size = (size_t)(suffix - name) + strlen(TRACE_SUFFIX);
	if (size >= sizeof(member))
		return false;
	memcpy(member, name, size);
	member[size] = '\0';
	return family_name_parse(&found, member);
}

/* "x" for "x.d", which is cut; false for others. */
static bool cut_suffix(char *folder)
{
	size_t size = strlen(folder), more = strlen(FAMILY_FOLDER_SUFFIX);
	const char *name;

	while (size > 1 && folder[size - 1] == '/')
		folder[--size] = '\0';
	name = strrchr(folder, '/');
	name = name ? name + 1 : folder;
	if (strlen(name) <= more ||
	    strcmp(folder + size - more, FAMILY_FOLDER_SUFFIX) != 0)
		return false;
	folder[size - more] = '\0';
	return true;
}

/* Of a file in a folder "x.d", "x"; NULL if it is in none. */
static char *first_of(const char *path, const char *name)
{
	char *folder, *real;

	folder = name == path ? strdup(".") :
				strndup(path, (size_t)(name - path));
	if (!folder || cut_suffix(folder))
		return folder;
	/* "." and ".." do not tell; nor does a link to the folder. */
	real = realpath(folder, NULL);
	free(folder);
	if (!real || cut_suffix(real))
		return real;
	free(real);
	return NULL;
}

/* A packed file is its own folder. */
static int find_packed(struct family_path *out, const char *path)
{
	const char *name;

	out->first = packed_of(path, &name);
	out->is_member = out->first != NULL;
	if (out->is_member && !family_name_parse(&out->member, name))
		out->member = (struct family_member){ 0 };
	if (!out->first && packed_is_at(path))
		out->first = strdup(path);
	if (!out->first)
		return 0;
	out->is_packed = true;
	out->folder = strdup(out->first);
	return out->folder ? 0 : ERR_NO_MEMORY;
}

int family_path_find(struct family_path *out, const char *path)
{
	struct stat status;
	char *target = NULL;
	const char *name;

	*out = (struct family_path){ 0 };
	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		target = realpath(path, NULL);
	if (target)
		path = target;
	if (find_packed(out, path) || out->is_packed) {
		free(target);
		if (out->folder)
			return 0;
		family_path_release(out);
		return ERR_NO_MEMORY;
	}
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (family_name_parse(&out->member, name))
		out->first = first_of(path, name);
	out->is_member = out->first != NULL;
	if (!out->first)
		out->first = strdup(path);
	free(target);
	if (out->first)
		out->folder = family_folder(out->first);
	if (out->folder)
		return 0;
	family_path_release(out);
	return ERR_NO_MEMORY;
}

void family_path_release(struct family_path *path)
{
	free(path->first);
	free(path->folder);
	*path = (struct family_path){ 0 };
}
