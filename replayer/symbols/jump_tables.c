/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jump_tables.c - see jump_tables.h
 *
 * Source: System V ABI, AMD64 supplement, "Procedure Linkage Table", and that of
 * AArch64; what GNU ld and lld make, with and without marks of branches.
 */
#include "replayer/symbols/jump_tables.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replayer/symbols/demangle.h"
#include "replayer/symbols/sections.h"

#define ENTRY_DEFAULT 16u

struct entry {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr;		/* as in the file */
};

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

/* The entry that the address is in; false if the file does not have its bytes. */
static bool find_entry(const struct section *table, struct entry *out,
		       uint64_t *inside)
{
	const GElf_Shdr *header = &table->header;
	uint64_t offset = table->offset, size;
	Elf_Data *data;

	if (header->sh_type != SHT_PROGBITS ||
	    !(data = elf_rawdata(table->handle, NULL)) || !data->d_buf)
		return false;
	size = header->sh_entsize ? header->sh_entsize : ENTRY_DEFAULT;
	*inside = offset % size;
	offset -= *inside;
	if (size > data->d_size || offset > data->d_size - size)
		return false;
	out->bytes = (const uint8_t *)data->d_buf + offset;
	out->size = (size_t)size;
	out->addr = header->sh_addr + offset;
	return true;
}

/* ------- where an entry jumps ------- */

/* "endbr64; bnd jmp *slot(%rip)": the first two need not be there. */
static bool slot_of_x86(const struct entry *entry, uint64_t *out)
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *at = entry->bytes;
	int32_t distance;

	if (entry->size >= sizeof(mark) && !memcmp(at, mark, sizeof(mark)))
		at += sizeof(mark);
	at += (size_t)(at - entry->bytes) < entry->size && *at == 0xf2;
	if (entry->size < (size_t)(at - entry->bytes) + 6 || at[0] != 0xff ||
	    at[1] != 0x25)
		return false;
	memcpy(&distance, at + 2, sizeof(distance));
	*out = entry->addr + (uint64_t)(at + 6 - entry->bytes) +
	       (uint64_t)(int64_t)distance;
	return true;
}

/* "bti c; adrp x16, slot; ldr x17, [x16, slot]": the first need not be there. */
static bool slot_of_arm64(const struct entry *entry, uint64_t *out)
{
	const uint32_t bti = 0xd503245f;
	uint32_t words[3];
	size_t at = 0;
	uint64_t pages;

	if (entry->size < sizeof(words))
		return false;
	memcpy(words, entry->bytes, sizeof(words));
	at += words[0] == bti;
	if ((words[at] & 0x9f00001f) != 0x90000010 ||
	    (words[at + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	/* 21 bits with their sign. */
	pages = (uint64_t)((words[at] >> 5 & 0x7ffff) << 2 |
			   (words[at] >> 29 & 3));
	pages = (pages ^ 0x100000) - 0x100000;
	*out = ((entry->addr + 4 * at) & ~UINT64_C(0xfff)) + (pages << 12) +
	       8 * (words[at + 1] >> 10 & 0xfff);
	return true;
}

/* ------- names ------- */

/* The name of the relocation of a word, in one section of them. */
static const char *name_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			   uint64_t slot)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
	GElf_Shdr of_symbols;
	GElf_Rela relocation;
	GElf_Sym symbol;

	if (!data || !symbols || !gelf_getshdr(symbols, &of_symbols))
		return NULL;
	for (int i = 0; gelf_getrela(data, i, &relocation); i++) {
		if (relocation.r_offset != slot)
			continue;
		data = elf_getdata(symbols, NULL);
		if (!data || !GELF_R_SYM(relocation.r_info) ||
		    !gelf_getsym(data, (int)GELF_R_SYM(relocation.r_info),
				 &symbol))
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
		    header.sh_type == SHT_RELA)
			name = name_in(elf, section, &header, slot);
	return name;
}

/* The function that an entry is for; NULL if it is for none. */
static const char *name_of_entry(const struct section *table, uint64_t *inside)
{
	struct entry entry;
	GElf_Ehdr header;
	uint64_t slot;

	if (!find_entry(table, &entry, inside) ||
	    !gelf_getehdr(table->elf, &header) ||
	    !(header.e_machine == EM_AARCH64 ? slot_of_arm64(&entry, &slot) :
					       slot_of_x86(&entry, &slot)))
		return NULL;
	return name_of_slot(table->elf, slot);
}

bool jump_table_name(Dwfl_Module *module, uint64_t addr, char *text,
		     size_t room)
{
	struct section table;
	uint64_t inside;
	const char *name;
	size_t length;

	if (!find_table(module, addr, &table))
		return false;
	name = name_of_entry(&table, &inside);
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
