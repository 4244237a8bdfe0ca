/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_search.c - see debug_search.h
 *
 * Source: gdb's manual, "Debugging Information in Separate Files".
 */
#include "replayer/symbols/debug_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "formats/module_files.h"

#define FOLDER "/usr/lib/debug"

static const char *named_folders;
static char *library_path;

void debug_search_folders(const char *folders)
{
	named_folders = folders;
	free(library_path);
	library_path = NULL;
}

static void (*tell_note)(const char *text);

void debug_search_notes(void (*tell)(const char *text))
{
	tell_note = tell;
}

void debug_search_note(const char *text)
{
	if (tell_note)
		tell_note(text);
}

const char *debug_search_named(void)
{
	const char *list = named_folders ? named_folders :
					   getenv("CPREC_DEBUG_DIR");

	return list ? list : "";
}

void debug_search_stay(void)
{
	const char *list = debug_search_named();
	char *here = getcwd(NULL, 0), *all = NULL;
	size_t size;
	FILE *out = here ? open_memstream(&all, &size) : NULL;

	while (out && *list) {
		size_t length = strcspn(list, ":");

		if (length && *list != '/')
			fprintf(out, "%s/", here);
		fprintf(out, "%.*s:", (int)length, list);
		list += length + (list[length] == ':');
	}
	free(here);
	if (out && !fclose(out))
		named_folders = all;
}

char *debug_search_path(void)
{
	if (!library_path &&
	    asprintf(&library_path, "%s:" FOLDER, debug_search_named()) < 0)
		library_path = NULL;
	return library_path;
}

bool debug_search_folder(unsigned number, const char **out, size_t *length)
{
	const char *list = debug_search_named();

	for (;;) {
		list += strspn(list, ":");
		*out = *list ? list : FOLDER;
		*length = *list ? strcspn(list, ":") : strlen(FOLDER);
		if (!number--)
			return true;
		if (!*list)
			return false;
		list += *length;
	}
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ------- whether it is the one ------- */

/* Source: gdb's manual, as above: the CRC-32 of all bytes. */
static bool has_crc(int fd, uint32_t wanted)
{
	uint32_t crc = UINT32_MAX;
	uint8_t bytes[65536];
	static uint32_t table[256];
	ssize_t got;

	for (uint32_t i = 0; i < 256 && !table[255]; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^
				   (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < got; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
	return !got && ~crc == wanted && lseek(fd, 0, SEEK_SET) == 0;
}

static bool has_build_id(int fd, const uint8_t *wanted, int size)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *found;
	bool same;

	same = elf && dwelf_elf_gnu_build_id(elf, &found) == size &&
	       !memcmp(found, wanted, (size_t)size);
	elf_end(elf);
	return same;
}

/* What is looked for: by build id if it has one, else by its bytes. */
struct wanted {
	const uint8_t *id;
	int id_size;		/* at most 0: there is none */
	bool has_crc;
	uint32_t crc;
};

static int open_wanted(const struct wanted *wanted, char *name, char **found)
{
	int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool good = false;

	if (fd >= 0 && wanted->id_size > 0)
		good = has_build_id(fd, wanted->id, wanted->id_size);
	else if (fd >= 0 && wanted->has_crc)
		good = has_crc(fd, wanted->crc);
	if (good) {
		*found = name;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(name);
	return -1;
}

/* ------- where it may be ------- */

/* "FOLDER" "BETWEEN" "NAME"; NULL without memory. */
static char *join(const char *folder, size_t length, const char *between,
		  size_t between_length, const char *name, const char *ending)
{
	char *text;

	if (asprintf(&text, "%.*s%.*s/%s%s", (int)length, folder,
		     (int)between_length, between, name, ending) < 0)
		return NULL;
	return text;
}

/* By a name, in each of the folders. */
static int open_in_folders(const struct wanted *wanted, const char *path,
			   const char *name, const char *ending, char **found)
{
	size_t directory = (size_t)(name_of(path) - path), length;
	const char *folder;
	int fd = -1;

	directory -= directory != 0;
	for (unsigned i = 0; fd < 0 && debug_search_folder(i, &folder, &length); i++) {
		fd = open_wanted(wanted, join(folder, length, path, directory,
					      name, ending), found);
		if (fd < 0)
			fd = open_wanted(wanted, join(folder, length, "", 0,
						      name, ending), found);
	}
	return fd;
}

static int open_by_link(const struct wanted *wanted, const char *path,
			const char *link, char **found)
{
	size_t directory = (size_t)(name_of(path) - path);
	int fd;

	if (*link == '/')
		return open_wanted(wanted, strdup(link), found);
	directory -= directory != 0;
	fd = open_wanted(wanted, join(path, directory, "", 0, link, ""),
			 found);
	if (fd < 0)
		fd = open_wanted(wanted, join(path, directory, "/.debug", 7,
					      link, ""), found);
	return fd < 0 ? open_in_folders(wanted, path, link, "", found) : fd;
}

static int open_by_name(const struct wanted *wanted, const char *path,
			const char *link, char **found)
{
	int fd = -1;

	if (link && *link)
		fd = open_by_link(wanted, path, link, found);
	if (fd < 0)
		fd = open_in_folders(wanted, path, name_of(path), ".debug",
				     found);
	return fd < 0 ? open_in_folders(wanted, path, name_of(path), "",
					found) : fd;
}

/* By build id, which libdwfl knows about; else where users may have it. */
int debug_search_open(Dwfl_Module *module, void **data, const char *name,
		      Dwarf_Addr base, const char *path, const char *link,
		      GElf_Word crc, char **found)
{
	struct wanted wanted = { .has_crc = link, .crc = crc };
	GElf_Addr ignored;
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, path,
					      link, crc, found);

	if (fd >= 0 || !path)
		return fd;
	wanted.id_size = dwfl_module_build_id(module, &wanted.id, &ignored);
	return open_by_name(&wanted, path, link, found);
}

/* ------- what goes with a module ------- */

/* "FOLDER/.build-id/ab/cdef.debug" */
static char *build_id_name(const char *folder, size_t length,
			   const struct wanted *wanted)
{
	static const char between[] = "/.build-id/";
	char name[2 * BUILD_ID_MOST + 2] = "";
	size_t at = 0;

	for (int i = 0; i < wanted->id_size; i++)
		at += (size_t)snprintf(name + at, sizeof(name) - at, "%02x%s",
				       wanted->id[i], i ? "" : "/");
	return join(folder, length, between, sizeof(between) - 2, name,
		    ".debug");
}

/* By name; NULL if it is not there. */
static Elf_Data *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *its = gelf_getshdr(section, &header) ?
					  elf_strptr(elf, names,
						     header.sh_name) : NULL;

		if (its && !strcmp(its, name))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

static int open_by_build_id(const struct wanted *wanted, char **found)
{
	const char *folder;
	size_t length;
	int fd = -1;

	if (wanted->id_size <= 0 || wanted->id_size > (int)BUILD_ID_MOST)
		return -1;
	for (unsigned i = 0; fd < 0 && debug_search_folder(i, &folder, &length); i++)
		fd = open_wanted(wanted, build_id_name(folder, length, wanted),
				 found);
	return fd;
}

int debug_search_build_id(const struct build_id *build_id, const char *path,
			  char **found)
{
	const struct wanted wanted = { .id = build_id->bytes,
				       .id_size = (int)build_id->size };
	int fd;

	elf_version(EV_CURRENT);
	fd = open_by_build_id(&wanted, found);
	return fd < 0 && wanted.id_size ? open_by_name(&wanted, path, NULL,
						      found) : fd;
}

/* The file that the section .gnu_debugaltlink of `path` names: with its id. */
static char *find_extra(Elf *elf, const char *path)
{
	const Elf_Data *data = find_section(elf, ".gnu_debugaltlink");
	struct wanted wanted = { 0 };
	const char *name = data ? data->d_buf : NULL;
	size_t length = name ? strnlen(name, data->d_size) : 0;
	char *found = NULL;
	int fd;

	if (!length || data->d_size - length - 1 > BUILD_ID_MOST)
		return NULL;
	wanted.id = (const uint8_t *)name + length + 1;
	wanted.id_size = (int)(data->d_size - length - 1);
	fd = open_wanted(&wanted, *name == '/' ? strdup(name) :
			 join(path, (size_t)(name_of(path) - path), "", 0,
			      name, ""), &found);
	if (fd < 0)
		fd = open_by_build_id(&wanted, &found);
	if (fd >= 0)
		close(fd);
	return found;
}

static int open_debug(Elf *elf, const char *path, char **found)
{
	struct wanted wanted = { 0 };
	const void *id = NULL;
	const char *link;
	int fd;

	if (find_section(elf, ".debug_info") ||
	    find_section(elf, ".zdebug_info"))
		return -1;
	wanted.id_size = (int)dwelf_elf_gnu_build_id(elf, &id);
	wanted.id = id;
	link = dwelf_elf_gnu_debuglink(elf, &wanted.crc);
	wanted.has_crc = link;
	fd = open_by_build_id(&wanted, found);
	return fd < 0 ? open_by_name(&wanted, path, link, found) : fd;
}

static void find_in_debug(int fd, const char *path, char **extra)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	*extra = find_extra(elf, path);
	elf_end(elf);
	close(fd);
}

/* Looks at sections only: to unpack debugging information takes long. */
void debug_search_files(const char *module, char **debug, char **extra)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), of_debug = -1;
	Elf *elf;

	*debug = *extra = NULL;
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		of_debug = open_debug(elf, module, debug);
	if (of_debug >= 0)
		find_in_debug(of_debug, *debug, extra);
	else
		*extra = find_extra(elf, module);
	elf_end(elf);
	close(fd);
}

/* ------- modules that are elsewhere ------- */

char *debug_search_module(const char *path, unsigned number)
{
	const char *folder, *name = name_of(path);
	size_t length;

	if (!debug_search_folder(number / 4, &folder, &length))
		return NULL;
	switch (number % 4) {
	case 0:
		return strndup(folder, length);
	case 1:
		return join(folder, length, "", 0,
			    path + (*path == '/'), "");
	case 2:
		return join(folder, length, "", 0, name, "");
	default:
		return join(folder, length, "", 0, name, ".debug");
	}
}

/* ------- split units ------- */

/* "FOLDER/NAME": a name that begins with '/' is below the folder, too. */
static char *below(const char *folder, size_t length, const char *name)
{
	return join(folder, length, "", 0, name + (*name == '/'), "");
}

static char *beside(const char *path, const char *name)
{
	size_t length = (size_t)(name_of(path) - path);

	return length ? below(path, length - 1, name) : strdup(name);
}

char *debug_search_unit(const struct debug_place *place, const char *name,
			const char *folder, unsigned number)
{
	const char *last = name_of(name), *found;
	size_t length;

	switch (number) {
	case 0:
		return *name == '/' || !*folder ?
			       strdup(name) :
			       below(folder, strlen(folder), name);
	case 1:
		return beside(place->file, name);
	case 2:
		return beside(place->file, last);
	case 3:
		return beside(place->module, last);
	case 4:
	case 5:
		found = number == 4 ? name : last;
		return place->recording ?
			       below(place->recording,
				     strlen(place->recording), found) :
			       beside(place->file, found);
	default:
		break;
	}
	number -= 6;
	if (!debug_search_folder(number / 3, &found, &length))
		return NULL;
	return number % 3 == 2 ? strndup(found, length) :
				 below(found, length,
				       number % 3 ? last : name);
}

static char *package_of(const char *folder, size_t length, const char *name)
{
	return join(folder, length, "", 0, name + (*name == '/'), ".dwp");
}

char *debug_search_package(const struct debug_place *place, unsigned number)
{
	const char *last = name_of(place->module), *found;
	size_t length;
	char *name;

	if (number == 2 && place->recording)
		return package_of(place->recording, strlen(place->recording),
				  last);
	if (number < 3)
		return asprintf(&name, "%s.dwp", number ? place->module :
					place->file) < 0 ? NULL : name;
	number -= 3;
	if (!debug_search_folder(number / 3, &found, &length))
		return NULL;
	return number % 3 == 2 ? strndup(found, length) :
				 package_of(found, length,
					    number % 3 ? last : place->module);
}
