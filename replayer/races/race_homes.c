/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_homes.c - see race_homes.h */
#include "replayer/races/race_homes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/memory/memory.h"

int race_codes_add(struct race_codes *codes, uint64_t start, uint64_t end)
{
	if (array_room(codes->list, codes->count, codes->room))
		return ERR_NO_MEMORY;
	codes->list[codes->count++] = (struct race_code) { start, end };
	return 0;
}

int race_homes_add(struct race_homes *homes, uint64_t start, uint64_t end)
{
	return race_codes_add(&homes->program, start, end);
}

int race_homes_add_helper(struct race_homes *homes, uint64_t start,
			  uint64_t end)
{
	return race_codes_add(&homes->helpers, start, end);
}

void race_homes_forget_helpers(struct race_homes *homes)
{
	homes->helpers.count = 0;
}

static int compare(const void *a, const void *b)
{
	const struct race_code *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

void race_homes_start(struct race_homes *homes, struct memory *memory)
{
	homes->memory = memory;
	if (homes->program.count)
		qsort(homes->program.list, homes->program.count,
		      sizeof(*homes->program.list), compare);
	race_homes_change(homes);
}

void race_homes_change(struct race_homes *homes)
{
	memset(homes->known, 0, sizeof(homes->known));
}

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* How the names of files begin. */
static const struct {
	const char *name;
	enum race_home home;
} files[] = {
	{ "ld-linux",		HOME_LINKER },
	{ "ld-2.",		HOME_LINKER },

	{ "libc.so",		HOME_C_LIBRARY },
	{ "libc-2.",		HOME_C_LIBRARY },
	{ "libpthread",		HOME_C_LIBRARY },
	{ "ld-musl",		HOME_C_LIBRARY },
	{ "[vdso]",		HOME_C_LIBRARY },

	{ "libstdc++.so",	HOME_CPP },
	{ "libc++.so",		HOME_CPP },
	{ "libc++abi.so",	HOME_CPP },

	{ "libgomp.so",		HOME_RUNTIME },	/* gcc -fopenmp */
	{ "libomp.so",		HOME_RUNTIME },	/* clang -fopenmp */
	{ "libomp-",		HOME_RUNTIME },
	{ "libomp5.so",		HOME_RUNTIME },
	{ "libiomp5.so",	HOME_RUNTIME },
	{ "libtbb.so",		HOME_RUNTIME },
	{ "libtbbmalloc.so",	HOME_RUNTIME },
};

enum race_home race_home_of_file(const char *path)
{
	const char *name = name_of(path);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (starts(name, files[i].name))
			return files[i].home;
	return HOME_PROGRAM;
}

bool race_home_has_atomics(const char *path)
{
	return race_home_is_program(race_home_of_file(path));
}

/* The program's code around `pc`, or the gap in it, as far as it is known. */
static void find_in_code(const struct race_homes *homes, uint64_t pc,
			 struct race_known_home *known)
{
	const struct race_codes *program = &homes->program;
	size_t low = 0, high = program->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (program->list[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < program->count && program->list[low].start <= pc) {
		known->code = program->list[low];
		known->home = HOME_PROGRAM;
		return;
	}
	known->home = HOME_C_LIBRARY;
	if (low > 0 && known->code.start < program->list[low - 1].end)
		known->code.start = program->list[low - 1].end;
	if (low < program->count && known->code.end > program->list[low].start)
		known->code.end = program->list[low].start;
}

/* The helper at `pc`, or what is around it and none. */
static void find_helper(const struct race_homes *homes, uint64_t pc,
			struct race_known_home *known)
{
	for (size_t i = 0; i < homes->helpers.count; i++) {
		const struct race_code *helper = &homes->helpers.list[i];

		if (helper->start <= pc && pc < helper->end) {
			known->code = *helper;
			known->home = HOME_CPP;
			return;
		}
		if (helper->end <= pc && helper->end > known->code.start)
			known->code.start = helper->end;
		if (helper->start > pc && helper->start < known->code.end)
			known->code.end = helper->start;
	}
}

static enum race_home find_home(struct race_homes *homes, uint64_t pc)
{
	const struct region *region = memory_region_at(homes->memory, pc);
	struct race_known_home *known = &homes->known[homes->next];

	if (!region || !(region->prot & MAY_EXEC))
		return HOME_UNKNOWN;
	homes->next = (homes->next + 1) % RACE_HOMES_KNOWN;
	known->code = (struct race_code) { region->start, region->end };
	known->home = race_home_of_file(region->name);
	if (homes->program.count && known->home == HOME_PROGRAM)
		find_in_code(homes, pc, known);
	else if (known->home == HOME_PROGRAM)
		find_helper(homes, pc, known);
	return known->home;
}

enum race_home race_home_of(struct race_homes *homes, uint64_t pc)
{
	for (unsigned i = 0; i < RACE_HOMES_KNOWN; i++)
		if (homes->known[i].code.start <= pc &&
		    pc < homes->known[i].code.end)
			return homes->known[i].home;
	return find_home(homes, pc);
}

void race_homes_release(struct race_homes *homes)
{
	free(homes->program.list);
	free(homes->helpers.list);
	*homes = (struct race_homes) { 0 };
}
