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

#define FOLDER "/usr/lib/debug"

static const char *named_folders;
static char *library_path;

void debug_search_folders(const char *folders)
{
	named_folders = folders;
}

static const char *folders(void)
{
	const char *list = named_folders ? named_folders :
					   getenv("CPREC_DEBUG_DIR");

	return list ? list : "";
}

char *debug_search_path(void)
{
	if (!library_path &&
	    asprintf(&library_path, "%s:" FOLDER, folders()) < 0)
		library_path = NULL;
	return library_path;
}

/* The folder with this number, the default one last; false behind it. */
static bool folder_at(unsigned number, const char **out, size_t *length)
{
	const char *list = folders();

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
	int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
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
	for (unsigned i = 0; fd < 0 && folder_at(i, &folder, &length); i++) {
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

int debug_search_open(Dwfl_Module *module, const char *path, const char *link,
		      uint32_t crc, char **found)
{
	struct wanted wanted = { .has_crc = link, .crc = crc };
	GElf_Addr ignored;
	int fd = -1;

	wanted.id_size = dwfl_module_build_id(module, &wanted.id, &ignored);
	if (!path)
		return -1;
	if (link && *link)
		fd = open_by_link(&wanted, path, link, found);
	if (fd < 0)
		fd = open_in_folders(&wanted, path, name_of(path), ".debug",
				     found);
	return fd < 0 ? open_in_folders(&wanted, path, name_of(path), "",
					found) : fd;
}

char *debug_search_module(const char *path, unsigned number)
{
	const char *folder, *name = name_of(path);
	size_t length;

	if (!folder_at(number / 3, &folder, &length))
		return NULL;
	switch (number % 3) {
	case 0:
		return join(folder, length, "", 0,
			    path + (*path == '/'), "");
	case 1:
		return join(folder, length, "", 0, name, "");
	default:
		return join(folder, length, "", 0, name, ".debug");
	}
}
