/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_tables.c - see guest_tables.h */
#include "replayer/symbols/guest_tables.h"

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

#define HEADERS_MOST 64u

struct guest_table {
	const struct symbols *module;
	uint8_t *image;		/* a file with nothing but the tables */
	Elf *elf;
	Dwarf_CFI *cfi;
};

/* What a module's headers say. */
struct found {
	Elf64_Ehdr header;
	uint64_t tables, end;	/* as in the module's file */
};

static bool read_at(const struct guest_reader *memory, uint64_t addr,
		    void *bytes, size_t size)
{
	return memory->read(memory->context, addr, bytes, size);
}

static bool is_within(const Elf64_Phdr *load, uint64_t addr)
{
	return load->p_type == PT_LOAD && load->p_vaddr <= addr &&
	       addr - load->p_vaddr < load->p_memsz;
}

/* The tables reach to the end of what is loaded with their header. */
static bool find_tables(const struct guest_reader *memory, uint64_t start,
			struct found *found)
{
	Elf64_Phdr headers[HEADERS_MOST];
	unsigned count;

	if (!read_at(memory, start, &found->header, sizeof(found->header)) ||
	    memcmp(found->header.e_ident, ELFMAG, SELFMAG) ||
	    found->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    found->header.e_phentsize != sizeof(headers[0]))
		return false;
	count = found->header.e_phnum < HEADERS_MOST ?
			found->header.e_phnum : HEADERS_MOST;
	found->tables = found->end = 0;
	for (unsigned i = 0; i < count; i++) {
		if (!read_at(memory, start + found->header.e_phoff +
				     i * sizeof(headers[0]),
			     &headers[i], sizeof(headers[0])))
			return false;
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			found->tables = headers[i].p_vaddr;
	}
	for (unsigned i = 0; i < count; i++)
		if (is_within(&headers[i], found->tables))
			found->end = headers[i].p_vaddr + headers[i].p_memsz;
	return found->tables && found->end > found->tables;
}

static bool copy_tables(const struct guest_reader *memory, uint64_t bias,
			const struct found *found, uint8_t *out)
{
	uint64_t size = found->end - found->tables;
	bool any = false;

	for (uint64_t at = 0; at < size; at += GUEST_READ_MOST) {
		uint64_t left = size - at;

		any |= read_at(memory, bias + found->tables + at, out + at,
			       left < GUEST_READ_MOST ? (size_t)left :
							GUEST_READ_MOST);
	}
	return any;
}

static bool make_image(struct guest_table *cfi, uint64_t bias,
		       const struct found *found,
		       const struct guest_reader *memory)
{
	size_t size = (size_t)(found->end - found->tables);
	Elf64_Ehdr header = found->header;
	Elf64_Phdr tables = {
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = sizeof(header) + sizeof(tables),
		.p_vaddr = found->tables,
		.p_filesz = size,
		.p_memsz = size,
	};

	header.e_phoff = sizeof(header);
	header.e_phnum = 1;
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	cfi->image = calloc(1, tables.p_offset + size);
	if (!cfi->image ||
	    !copy_tables(memory, bias, found, cfi->image + tables.p_offset))
		return false;
	memcpy(cfi->image, &header, sizeof(header));
	memcpy(cfi->image + sizeof(header), &tables, sizeof(tables));
	cfi->elf = elf_memory((char *)cfi->image, tables.p_offset + size);
	cfi->cfi = cfi->elf ? dwarf_getcfi_elf(cfi->elf) : NULL;
	return cfi->cfi != NULL;
}

Dwarf_CFI *guest_tables_find(struct guest_tables *tables,
			     const struct symbols *module, uint64_t bias,
			     const struct guest_reader *memory)
{
	struct guest_table *cfi;
	struct found found;

	for (size_t i = 0; i < tables->count; i++)
		if (tables->list[i].module == module)
			return tables->list[i].cfi;
	if (array_room(tables->list, tables->count, tables->room))
		return NULL;
	cfi = &tables->list[tables->count++];
	*cfi = (struct guest_table){ .module = module };
	elf_version(EV_CURRENT);
	if (module->base_offset ||
	    !find_tables(memory, bias + module->link_base, &found) ||
	    found.end - found.tables > GUEST_TABLES_MOST - tables->copied)
		return NULL;
	tables->copied += found.end - found.tables;
	make_image(cfi, bias, &found, memory);
	return cfi->cfi;
}

void guest_tables_release(struct guest_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++) {
		struct guest_table *cfi = &tables->list[i];

		if (cfi->cfi)
			dwarf_cfi_end(cfi->cfi);
		if (cfi->elf)
			elf_end(cfi->elf);
		free(cfi->image);
	}
	free(tables->list);
	*tables = (struct guest_tables){ 0 };
}
