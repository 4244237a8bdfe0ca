/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_object.c - see kernel_object.h
 *
 * Source: Linux, kernel/module/main.c, layout_sections(); kallsyms.c there.
 */
#include "replayer/symbols/kernel_object.h"

#include <fts.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/names.h"

#define SYMBOLS_MOST (1u << 20)
#define SECTIONS_MOST 65536u
#define FILES_MOST 65536u	/* that are looked at below a folder */

/* ------- where its sections are ------- */

struct name {
	const char *text;
	uint64_t addr;		/* in memory; of the file, in its section */
	size_t section;		/* of the file */
};

struct name_list {
	struct name *list;
	size_t count;
};

static int by_text(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	return strcmp(a->text, b->text);
}

static void sort(struct name_list *names)
{
	qsort(names->list, names->count, sizeof(*names->list), by_text);
}

/* One that no other is called like. */
static bool is_alone(const struct name_list *names, size_t i)
{
	const char *text = names->list[i].text;

	return (!i || strcmp(names->list[i - 1].text, text)) &&
	       (i + 1 == names->count ||
		strcmp(names->list[i + 1].text, text));
}

static bool take_pieces(struct name_list *out,
			const struct kernel_pieces *pieces)
{
	size_t count = 0;

	for (size_t i = 0; i < pieces->count; i++)
		count += pieces->list[i]->count;
	out->list = calloc(count + 1, sizeof(*out->list));
	for (size_t i = 0; out->list && i < pieces->count; i++) {
		const struct symbols *piece = pieces->list[i];

		for (size_t j = 0; j < piece->count; j++)
			out->list[out->count++] = (struct name){
				piece->list[j].name, piece->list[j].addr, 0,
			};
	}
	if (out->list)
		sort(out);
	return out->list;
}

/* What is in a section that the kernel loads. */
static bool is_loaded(Elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ?
				   elf_getscn(elf, symbol->st_shndx) : NULL;
	GElf_Shdr header;

	return symbol->st_shndx && section && gelf_getshdr(section, &header) &&
	       header.sh_flags & SHF_ALLOC &&
	       GELF_ST_TYPE(symbol->st_info) != STT_SECTION;
}

static Elf_Scn *find_table(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) &&
		    header->sh_type == SHT_SYMTAB && header->sh_entsize)
			return section;
	return NULL;
}

static bool take_file(struct name_list *out, Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(elf, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data ? data->d_size / header.sh_entsize : 0;

	if (!count || count > SYMBOLS_MOST)
		return false;
	out->list = calloc(count, sizeof(*out->list));
	for (size_t i = 1; out->list && i < count; i++) {
		GElf_Sym symbol;
		const char *text;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    !is_loaded(elf, &symbol))
			continue;
		text = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (text && *text && !symbol_is_mark(text))
			out->list[out->count++] = (struct name){
				text, symbol.st_value, symbol.st_shndx,
			};
	}
	if (out->list)
		sort(out);
	return out->list;
}

/* If nobody has told, one symbol of each section says where that is; the others
 * agree. */
static bool agree(struct kernel_object *out, const struct name *in_file,
		  const struct name *in_memory)
{
	uint64_t *section = &out->sections[in_file->section];
	uint64_t addr = in_memory->addr - in_file->addr;

	if (*section == OBJECT_NOWHERE)
		*section = addr;
	return *section == addr;
}

/* Whether there are some that both have, which agree. */
static bool compare(struct kernel_object *out, const struct name_list *file,
		    const struct name_list *memory)
{
	size_t i = 0, j = 0, same = 0;

	while (i < file->count && j < memory->count) {
		int order = strcmp(file->list[i].text, memory->list[j].text);

		if (!order && is_alone(file, i) && is_alone(memory, j)) {
			if (!agree(out, &file->list[i], &memory->list[j]))
				return false;
			same++;
		}
		i += order <= 0;
		j += order >= 0;
	}
	return same;
}

static uint64_t told_addr(const struct module_sections *sections,
			  const char *name)
{
	for (size_t i = 0; name && i < sections->count; i++)
		if (!strcmp(sections->list[i].name, name))
			return sections->list[i].addr;
	return OBJECT_NOWHERE;
}

static bool make_sections(struct kernel_object *out, Elf *elf,
			  const struct module_sections *told)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count, names;

	if (elf_getshdrstrndx(elf, &names) || elf_getshdrnum(elf, &count) ||
	    count > SECTIONS_MOST)
		return false;
	out->sections = calloc(count + 1, sizeof(*out->sections));
	out->count = out->sections ? count : 0;
	for (size_t i = 0; i < out->count; i++)
		out->sections[i] = OBJECT_NOWHERE;
	while (out->count && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_flags & SHF_ALLOC && elf_ndxscn(section) < count)
			out->sections[elf_ndxscn(section)] = told_addr(
				told, elf_strptr(elf, names, header.sh_name));
	return out->count;
}

static bool place(struct kernel_object *out, Elf *elf,
		  const struct kernel_pieces *pieces)
{
	struct name_list file = { 0 }, memory = { 0 };
	GElf_Ehdr header;
	bool is_it = gelf_getehdr(elf, &header) && header.e_type == ET_REL &&
		     make_sections(out, elf, pieces->sections) &&
		     take_file(&file, elf) &&
		     take_pieces(&memory, pieces) &&
		     compare(out, &file, &memory);

	free(file.list);
	free(memory.list);
	return is_it;
}

bool kernel_object_place(struct kernel_object *out, int fd,
			 const struct kernel_pieces *pieces)
{
	Elf *elf;
	bool is_it;

	*out = (struct kernel_object){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_it = elf && place(out, elf, pieces);
	elf_end(elf);
	if (!is_it)
		kernel_object_release(out);
	return is_it;
}

void kernel_object_release(struct kernel_object *object)
{
	free(object->sections);
	*object = (struct kernel_object){ 0 };
}

/* ------- where its file is ------- */

/* A module's name has '_' where its file's may have '-'. */
bool kernel_object_is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;

	for (; *name; name++, file++)
		if (*name != (*file == '-' ? '_' : *file))
			return false;
	return !strcmp(file, ".ko") || !strcmp(file, ".ko.debug");
}

struct object_search {
	const char *name, *release;
	bool (*visit)(void *context, const char *path);
	void *context;
};

static bool search_below(const struct object_search *search, char *folder,
			 bool is_deep)
{
	char *const folders[] = { folder, NULL };
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT,
			     NULL);
	bool is_found = false;
	FTSENT *entry;

	for (unsigned i = 0; tree && i < FILES_MOST && !is_found &&
			     (entry = fts_read(tree)); i++) {
		if (entry->fts_info == FTS_D && entry->fts_level && !is_deep)
			fts_set(tree, entry, FTS_SKIP);
		else if (entry->fts_info != FTS_D &&
			 entry->fts_info != FTS_DP &&
			 (!entry->fts_level ||
			  kernel_object_is_called(entry->fts_name,
						  search->name)))
			is_found = search->visit(search->context,
						 entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	return is_found;
}

/* Below the folder, or in it if there is nothing between. */
static bool search_folder(const struct object_search *search,
			  const char *folder, size_t length,
			  const char *between)
{
	char *path;
	bool is_found;

	if (asprintf(&path, "%.*s%s%s", (int)length, folder, between,
		     *between ? search->release : "") < 0)
		return false;
	is_found = search_below(search, path, *between);
	free(path);
	return is_found;
}

bool kernel_object_search(const char *name, const char *release,
			  bool (*visit)(void *context, const char *path),
			  void *context)
{
	const struct object_search search = { name, release, visit, context };
	const char *folder;
	size_t length;

	for (unsigned i = 0; debug_search_folder(i, &folder, &length); i++)
		if (search_folder(&search, folder, length, "") ||
		    search_folder(&search, folder, length, "/lib/modules/") ||
		    search_folder(&search, folder, length,
				  "/usr/lib/debug/lib/modules/"))
			return true;
	return false;
}
