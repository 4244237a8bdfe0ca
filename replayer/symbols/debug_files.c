/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_files.c - see debug_files.h */
#include "replayer/symbols/debug_files.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/array.h"

struct debug_file {
	const struct symbols *symbols;
	Dwfl *session;
	Dwfl_Module *module;	/* NULL: there is no such file */
};

/* Never asks servers for what is not on this machine. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_build_id_find_debuginfo,
	.section_address = dwfl_offline_section_address,
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

static void open_file(struct debug_file *file)
{
	const char *path = file->symbols->path;

	file->session = dwfl_begin(&callbacks);
	if (!file->session)
		return;
	file->module = dwfl_report_elf(file->session, path, path, -1, 0, true);
	if (dwfl_report_end(file->session, NULL, NULL))
		file->module = NULL;
	if (file->module && !is_same(file->module, file->symbols))
		file->module = NULL;
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
