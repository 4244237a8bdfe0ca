/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_parts.c - see index_parts.h */
#include "tools/index_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/family_path.h"
#include "replayer/session/session.h"

/* "3" and "8", with `between` between them. */
static bool parse(const char *text, const char *between, struct index_part *out)
{
	const char *middle = strstr(text, between);
	char number[INDEX_PART_ROOM];
	uint64_t first, count;
	size_t size = middle ? (size_t)(middle - text) : sizeof(number);

	if (size >= sizeof(number))
		return false;
	memcpy(number, text, size);
	number[size] = '\0';
	if (!number_parse(number, &first) ||
	    !number_parse(middle + strlen(between), &count) || !first ||
	    first > count || count > INDEX_PARTS_MOST)
		return false;
	*out = (struct index_part){ first, count };
	return true;
}

bool index_part_parse(const char *text, struct index_part *out)
{
	return parse(text, "/", out);
}

const char *index_part_name(char name[INDEX_PART_ROOM],
			    const struct index_part *part)
{
	snprintf(name, INDEX_PART_ROOM, "%zuof%zu", part->number, part->count);
	return name;
}

/* ------- merging ------- */

struct parts {
	struct index_part *list;
	size_t count, room;
};

/* Those whose names begin as the side file's does. */
static int look(struct parts *parts, DIR *entries, const char *side)
{
	size_t size = strlen(side);
	const struct dirent *entry;
	struct index_part part;

	while ((entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (strncmp(name, side, size) != 0 || name[size] != '.' ||
		    !parse(name + size + 1, "of", &part))
			continue;
		if (array_room(parts->list, parts->count, parts->room))
			return ERR_NO_MEMORY;
		parts->list[parts->count++] = part;
	}
	return 0;
}

static int find(struct parts *parts, char *side, struct failure *why)
{
	char *slash = strrchr(side, '/');
	DIR *entries;
	int rc;

	if (slash)
		*slash = '\0';
	entries = opendir(!slash ? "." : slash == side ? "/" : side);
	if (slash)
		*slash = '/';
	if (!entries)
		return failed(why, ERR_SYSTEM, "cannot look for parts of '%s':"
			      " %s", side, strerror(errno));
	rc = look(parts, entries, slash ? slash + 1 : side);
	closedir(entries);
	if (rc)
		return failed(why, rc, "out of memory");
	if (!parts->count)
		return failed(why, ERR_NOT_FOUND, "there are no parts:"
			      " 'cprec index --part=1/2' and so on make '%s.1of2'",
			      side);
	return 0;
}

static void remove_part(const char *recording, const char *name)
{
	char *path = family_side_file(recording, name);

	if (path)
		unlink(path);
	free(path);
}

/* How many there should be, of as many as the first one says. */
static size_t count_missing(const struct parts *parts)
{
	size_t there = 0, count = parts->list[0].count;

	for (size_t i = 0; i < parts->count; i++)
		there += parts->list[i].count == count;
	return count - there;
}

int index_parts_merge(const char *recording, struct index_builder *builder,
		      size_t *merged, size_t *missing, struct failure *why)
{
	char *side = family_side_file(recording, NULL);
	struct parts parts = { 0 };
	char name[INDEX_PART_ROOM];
	int rc = side ? find(&parts, side, why) :
			failed(why, ERR_NO_MEMORY, "out of memory");

	*merged = *missing = 0;
	for (size_t i = 0; i < parts.count && !rc; i++) {
		index_part_name(name, &parts.list[i]);
		rc = index_merge(builder, name, why);
		if (!rc)
			remove_part(recording, name);
		*merged += !rc;
	}
	if (!rc)
		*missing = count_missing(&parts);
	free(parts.list);
	free(side);
	return rc;
}
