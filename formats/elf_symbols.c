/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_symbols.c - see elf_symbols.h */
#include "formats/elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/region.h"

/* Collects symbols; names are offsets until `strings` stops moving. */
struct collector {
	struct symbols *symbols;
	unsigned machine;
	size_t room, strings_size, strings_room;
};

static void find_load_range(Elf *elf, struct symbols *out)
{
	size_t count = 0;
	bool first = true;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) ||
		    phdr.p_type != PT_LOAD)
			continue;
		if (first || phdr.p_vaddr < out->link_base) {
			uint64_t skew = phdr.p_vaddr % GUEST_PAGE;
			uint64_t offset = phdr.p_offset - skew;

			out->link_base = phdr.p_vaddr - skew;
			/* A file that is not aligned so cannot be mapped: where
			 * in it something is tells nothing. */
			out->base_offset = offset % GUEST_PAGE ? 0 : offset;
		}
		if (phdr.p_vaddr + phdr.p_memsz > out->link_end)
			out->link_end = phdr.p_vaddr + phdr.p_memsz;
		first = false;
	}
}

static bool keep_name(struct collector *to, const char *name, size_t *at)
{
	size_t size = strlen(name) + 1;

	if (size > to->strings_room - to->strings_size) {
		size_t room = (to->strings_room + size) * 2;
		char *more = realloc(to->symbols->strings, room);

		if (!more)
			return false;
		to->symbols->strings = more;
		to->strings_room = room;
	}
	*at = to->strings_size;
	memcpy(to->symbols->strings + to->strings_size, name, size);
	to->strings_size += size;
	return true;
}

static bool keep(struct collector *to, const GElf_Sym *sym, const char *name)
{
	struct symbols *symbols = to->symbols;
	unsigned type = GELF_ST_TYPE(sym->st_info);
	struct symbol *symbol;
	size_t at;

	if (array_room(symbols->list, symbols->count, to->room))
		return false;
	if (!keep_name(to, name, &at))
		return false;
	symbol = &symbols->list[symbols->count++];
	symbol->addr = sym->st_value;
	symbol->size = sym->st_size;
	symbol->name = (const char *)(uintptr_t)at;
	symbol->type = type == STT_FUNC || type == STT_GNU_IFUNC ?
			       SYMBOL_FUNCTION :
		       type == STT_OBJECT ? SYMBOL_OBJECT : SYMBOL_OTHER;
	symbol->is_thumb = to->machine == EM_ARM && symbol->addr & 1 &&
			   symbol->type == SYMBOL_FUNCTION;
	symbol->addr -= symbol->is_thumb;
	return true;
}

static bool is_useful(const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (!name || !name[0] || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx == SHN_ABS || !sym->st_value)
		return false;
	return type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC ||
	       type == STT_GNU_IFUNC;
}

static bool has_marks(const struct collector *to)
{
	return to->machine == EM_AARCH64 || to->machine == EM_ARM;
}

static int collect(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		   struct collector *to)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count;

	if (!data || !header->sh_entsize)
		return 0;
	count = header->sh_size / header->sh_entsize;
	for (size_t i = 1; i < count; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (has_marks(to) && symbol_is_mark(name))
			continue;
		if (is_useful(&sym, name) && !keep(to, &sym, name))
			return ERR_NO_MEMORY;
	}
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int read_tables(Elf *elf, struct symbols *out)
{
	struct collector to = { .symbols = out };
	Elf_Scn *section = NULL, *best = NULL;
	GElf_Shdr header, best_header;
	GElf_Ehdr file;
	int rc;

	if (gelf_getehdr(elf, &file))
		to.machine = file.e_machine;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB ||
		    (header.sh_type == SHT_DYNSYM && !best)) {
			best = section;
			best_header = header;
		}
	}
	rc = best ? collect(elf, best, &best_header, &to) : 0;
	for (size_t i = 0; i < out->count; i++)
		out->list[i].name =
			out->strings + (uintptr_t)out->list[i].name;
	if (!rc && out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_address);
	return rc;
}

static int read_file(struct symbols *out, int fd)
{
	Elf *elf;
	int rc = ERR_CORRUPT;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		find_load_range(elf, out);
		rc = read_tables(elf, out);
	}
	if (elf)
		elf_end(elf);
	return rc;
}

int elf_symbols(struct symbols *out, const char *path, int fd)
{
	int own = fd < 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int rc = ERR_NO_MEMORY;

	memset(out, 0, sizeof(*out));
	if (fd < 0 && own < 0)
		return ERR_SYSTEM;
	out->path = strdup(path);
	if (out->path)
		rc = read_file(out, fd < 0 ? own : fd);
	if (own >= 0)
		close(own);
	if (rc)
		symbols_release(out);
	return rc;
}
