/* SPDX-License-Identifier: GPL-2.0-or-later */
/* split_join.c - see split_join.h */
#include "replayer/symbols/split_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/elf_sections.h"
#include "replayer/symbols/split_file.h"
#include "replayer/symbols/split_units.h"

struct join {
	struct split_units *units;
	const struct debug_place *place;
	char *other;		/* a file with other units than are wanted */
};

/* Takes what it has out of the file at `path`; `*is_there`: there is one. */
static bool add_file(struct join *join, const char *path, bool *is_there)
{
	struct split_file file;
	bool has_units;

	*is_there = split_file_open(&file, path);
	if (!*is_there)
		return false;
	has_units = split_units_add(join->units, &file);
	split_file_close(&file);
	return has_units;
}

static void add_package(struct join *join)
{
	bool has_units = false, is_there;
	char *path;

	for (unsigned i = 0; !has_units; i++) {
		path = debug_search_package(join->place, i);
		if (!path)
			return;
		has_units = add_file(join, path, &is_there);
		free(path);
	}
}

static void add_unit(struct join *join, const struct skeleton *skeleton)
{
	bool is_there;
	char *path;

	for (unsigned i = 0; !skeleton->is_joined && *skeleton->name; i++) {
		path = debug_search_unit(join->place, skeleton->name,
					 skeleton->folder, i);
		if (!path)
			return;
		/* One is not read again for each of its skeletons. */
		if (!join->other || strcmp(path, join->other) != 0)
			add_file(join, path, &is_there);
		else
			is_there = false;
		if (is_there && !skeleton->is_joined) {
			free(join->other);
			join->other = path;
		} else {
			free(path);
		}
	}
}

/* ------- what is missing ------- */

/* More places are not named. */
#define PLACES_MOST 16u

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "'/a/x.dwo', '/b/x.dwo'": each once. */
static void list_places(FILE *out, const struct join *join,
			const struct skeleton *skeleton)
{
	char *paths[PLACES_MOST] = { NULL };
	unsigned count = 0;

	for (unsigned i = 0; count < PLACES_MOST; i++) {
		char *path = debug_search_unit(join->place, skeleton->name,
					       skeleton->folder, i);
		bool is_there;

		if (!path)
			break;
		/* What is a folder of the user's is no file. */
		is_there = strcmp(name_of(path), name_of(skeleton->name)) != 0;
		for (unsigned k = 0; k < count; k++)
			is_there |= !strcmp(paths[k], path);
		if (is_there) {
			free(path);
			continue;
		}
		fprintf(out, "%s'%s'", count ? ", " : "", path);
		paths[count++] = path;
	}
	while (count)
		free(paths[--count]);
}

static void tell_missing(const struct join *join,
			 const struct skeleton *first, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "'%s' is missing, which has debugging information of"
		" '%s'", first->name, join->place->module);
	if (count > 1)
		fprintf(out, ", and so %s %zu more such file%s",
			count > 2 ? "are" : "is", count - 1,
			count > 2 ? "s" : "");
	fprintf(out, ": looked for ");
	list_places(out, join, first);
	fprintf(out, " and in '%s.dwp'", name_of(join->place->module));
	if (join->other)
		fprintf(out, "; '%s' is of another build", join->other);
	if (!fclose(out))
		debug_search_note(text);
	free(text);
}

static void look_for_missing(const struct join *join)
{
	const struct skeleton *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < split_units_count(join->units); i++) {
		const struct skeleton *one = split_units_at(join->units, i);

		if (one->is_joined)
			continue;
		count++;
		if (!first)
			first = one;
	}
	if (first)
		tell_missing(join, first, count);
}

/* ------- all ------- */

static int join_all(struct join *join, Elf *elf)
{
	size_t count = split_units_count(join->units);

	add_package(join);
	for (size_t i = 0; i < count; i++)
		add_unit(join, split_units_at(join->units, i));
	look_for_missing(join);
	for (size_t i = 0; i < count; i++)
		if (split_units_at(join->units, i)->is_joined)
			return split_units_make(join->units, elf);
	return -1;
}

/* Code and data of split units have their addresses in this section. */
static bool may_be_split(Elf *elf)
{
	return elf && elf_kind(elf) == ELF_K_ELF &&
	       elf_section_find(elf, ".debug_addr");
}

int split_join(int fd, const struct debug_place *place)
{
	struct join join = { .place = place };
	Dwarf *dwarf = NULL;
	int made = -1;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (may_be_split(elf))
		dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (dwarf)
		join.units = split_units_begin(dwarf);
	if (join.units)
		made = join_all(&join, elf);
	split_units_end(join.units);
	free(join.other);
	dwarf_end(dwarf);
	elf_end(elf);
	if (made < 0)
		return fd;
	close(fd);
	return made;
}
