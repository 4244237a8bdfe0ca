/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_files.c - see debug_files.h */
#include "replayer/symbols/debug_files.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/array.h"
#include "replayer/symbols/debug_search.h"

struct debug_file {
	const struct symbols *symbols;
	Dwfl *session;
	Dwfl_Module *module;	/* NULL: there is no such file */
};

/* By build id, which libdwfl knows about; else where users may have it. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **found)
{
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, path,
					      link, crc, found);

	return fd >= 0 ? fd : debug_search_open(module, path, link, crc, found);
}

static char *search_path;

/* Never asks servers for what is not on this machine. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &search_path,
};

/* So many symbols are looked at to tell whether a file is the one. */
#define SAMPLES 64u

/*
 * Whether the file has the symbols that were recorded: another version of it
 * would name the wrong lines.
 */
static bool is_same(Dwfl_Module *module, const struct symbols *symbols)
{
	size_t step = symbols->count / SAMPLES + 1;
	size_t looked = 0, same = 0;

	for (size_t i = 0; i < symbols->count; i += step) {
		const struct symbol *symbol = &symbols->list[i];
		GElf_Off offset;
		GElf_Sym found;
		const char *name;

		if (symbol->type != SYMBOL_FUNCTION)
			continue;
		looked++;
		name = dwfl_module_addrinfo(module, symbol->addr, &offset,
					    &found, NULL, NULL, NULL);
		same += name && offset == 0;
	}
	return same * 10 >= looked * 9;
}

/* False: there is no such file, or it is another version. */
static bool open_at(struct debug_file *file, const char *path)
{
	search_path = debug_search_path();
	file->session = dwfl_begin(&callbacks);
	if (!file->session)
		return false;
	file->module = dwfl_report_elf(file->session, path, path, -1, 0, true);
	if (dwfl_report_end(file->session, NULL, NULL))
		file->module = NULL;
	if (file->module && is_same(file->module, file->symbols))
		return true;
	dwfl_end(file->session);
	file->session = NULL;
	file->module = NULL;
	return false;
}

static void open_file(struct debug_file *file)
{
	const char *path = file->symbols->path;
	bool found = open_at(file, path);

	for (unsigned i = 0; !found; i++) {
		char *other = debug_search_module(path, i);

		if (!other)
			return;
		found = open_at(file, other);
		free(other);
	}
}

Dwfl_Module *debug_files_find(struct debug_files *files,
			      const struct symbols *symbols)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].symbols == symbols)
			return files->list[i].module;
	if (array_room(files->list, files->count, files->room))
		return NULL;
	files->list[files->count] = (struct debug_file){ symbols };
	open_file(&files->list[files->count]);
	return files->list[files->count++].module;
}

Dwarf *debug_files_dwarf(struct debug_files *files,
			 const struct symbols *symbols, uint64_t *bias)
{
	Dwfl_Module *module = debug_files_find(files, symbols);
	Dwarf_Addr found = 0;
	Dwarf *dwarf = module ? dwfl_module_getdwarf(module, &found) : NULL;

	*bias = found;
	return dwarf;
}

void debug_files_release(struct debug_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].session)
			dwfl_end(files->list[i].session);
	free(files->list);
	*files = (struct debug_files){ 0 };
}
