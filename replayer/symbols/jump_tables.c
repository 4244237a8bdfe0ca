/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jump_tables.c - see jump_tables.h */
#include "replayer/symbols/jump_tables.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/jump_stubs.h"
#include "formats/registers.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/sections.h"

/* How entries are found. */
static const struct kind {
	unsigned machine, arch;
	unsigned size;		/* of one; 0: as the section says */
	unsigned back;		/* it begins at most so many bytes before */
} kinds[] = {
	{ EM_X86_64, ARCH_X86_64, 0, 0 },
	{ EM_386, ARCH_I386, 0, 0 },
	{ EM_AARCH64, ARCH_AARCH64, 0, 0 },
	{ EM_ARM, ARCH_ARM, 4, 12 },
};

#define ENTRY_DEFAULT 16u	/* of sections that do not say it */
#define WORD 4u			/* what they say then, or nothing */

static const struct kind *kind_of(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].machine == header.e_machine)
			return &kinds[i];
	return NULL;
}

/* ------- entries ------- */

static bool find_table(Dwfl_Module *module, uint64_t addr,
		       struct section *out)
{
	return section_find(module, addr, out) && !strncmp(out->name, ".plt", 4);
}

bool jump_table_has(Dwfl_Module *module, uint64_t addr)
{
	struct section table;

	return find_table(module, addr, &table);
}

/* Where code finds slots by a register that has been set for that. */
static uint64_t table_of_slots(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;
	uint64_t found = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ?
			elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".got.plt"))
			return header.sh_addr;
		if (name && !strcmp(name, ".got"))
			found = header.sh_addr;
	}
	return found;
}

/* What begins so many bytes into the section; false: they are not there. */
static bool take_entry(const struct section *table, uint64_t offset,
		       struct jump_stub *out)
{
	const GElf_Shdr *header = &table->header;
	Elf_Data *data;

	if (header->sh_type != SHT_PROGBITS ||
	    !(data = elf_rawdata(table->handle, NULL)) || !data->d_buf ||
	    offset >= data->d_size)
		return false;
	out->code = (const uint8_t *)data->d_buf + offset;
	out->size = data->d_size - (size_t)offset;
	out->addr = header->sh_addr + offset;
	return true;
}

/* The slot of an address's entry, which began `*inside` bytes before it. */
static bool find_slot(const struct section *table, uint64_t *inside,
		      uint64_t *slot)
{
	const struct kind *kind = kind_of(table->elf);
	struct jump_stub stub = { .table = table_of_slots(table->elf) };
	uint64_t size;

	if (!kind)
		return false;
	size = kind->size ? kind->size : table->header.sh_entsize;
	if (!kind->size && size <= WORD)
		size = ENTRY_DEFAULT;
	for (*inside = table->offset % size;
	     *inside < size + kind->back && *inside <= table->offset;
	     *inside += size)
		if (take_entry(table, table->offset - *inside, &stub) &&
		    jump_stub_slot(kind->arch, &stub, slot))
			return true;
	return false;
}

/* ------- names ------- */

struct relocation {
	uint64_t offset;
	int symbol;
};

/* With an addend or without. */
static bool take_relocation(Elf_Data *data, unsigned type, int index,
			    struct relocation *out)
{
	GElf_Rela with;
	GElf_Rel without;

	if (type == SHT_RELA && gelf_getrela(data, index, &with))
		*out = (struct relocation) { with.r_offset,
					     (int)GELF_R_SYM(with.r_info) };
	else if (type == SHT_REL && gelf_getrel(data, index, &without))
		*out = (struct relocation) { without.r_offset,
					     (int)GELF_R_SYM(without.r_info) };
	else
		return false;
	return true;
}

/* The name of the relocation of a word, in one section of them. */
static const char *name_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			   uint64_t slot)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
	GElf_Shdr of_symbols;
	struct relocation relocation;
	GElf_Sym symbol;

	if (!data || !symbols || !gelf_getshdr(symbols, &of_symbols))
		return NULL;
	for (int i = 0; take_relocation(data, header->sh_type, i, &relocation);
	     i++) {
		if (relocation.offset != slot)
			continue;
		data = elf_getdata(symbols, NULL);
		if (!data || !relocation.symbol ||
		    !gelf_getsym(data, relocation.symbol, &symbol))
			return NULL;
		return elf_strptr(elf, of_symbols.sh_link, symbol.st_name);
	}
	return NULL;
}

static const char *name_of_slot(Elf *elf, uint64_t slot)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name = NULL;

	while (!name && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_RELA || header.sh_type == SHT_REL))
			name = name_in(elf, section, &header, slot);
	return name;
}

bool jump_table_name(Dwfl_Module *module, uint64_t addr, char *text,
		     size_t room)
{
	struct section table;
	uint64_t inside, slot;
	const char *name = NULL;
	size_t length;

	if (!find_table(module, addr, &table))
		return false;
	if (find_slot(&table, &inside, &slot))
		name = name_of_slot(table.elf, slot);
	if (name && *name) {
		demangle_into(text, room, name);
		length = strlen(text);
		snprintf(text + length, room - length, "@plt");
	} else {
		inside = table.offset;
		snprintf(text, room, "%s", table.name);
	}
	length = strlen(text);
	if (inside)
		snprintf(text + length, room - length, "+0x%" PRIx64, inside);
	return true;
}
