/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_parts.c - see elf_parts.h */
#include "debugger/elf_parts.h"

#include <string.h>

#include "debugger/server_internal.h"
#include "debugger/target.h"
#include "debugger/text.h"

#define WIDE 8u

#define SIZE(word, type) \
	((word) == WIDE ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define FIELD(word, type, field) \
	((word) == WIDE ? offsetof(Elf64_##type, field) : \
			  offsetof(Elf32_##type, field))

uint64_t elf_word(unsigned word, const void *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes, word);
	return value;
}

/* ------- in memory ------- */

bool elf_words(struct server *server, uint64_t addr, uint64_t *out,
	       unsigned count)
{
	unsigned word = server->target->word;

	for (unsigned i = 0; i < count; i++) {
		out[i] = 0;
		if (!state_read(server, addr + i * word, &out[i], word))
			return false;
	}
	return true;
}

bool elf_module_at(struct server *server, uint64_t addr,
		   struct elf_module *out)
{
	uint64_t words[4];

	if (!elf_words(server, addr, words, 4))
		return false;
	*out = (struct elf_module) { words[0], words[1], words[2], words[3] };
	return true;
}

bool elf_headers_of(struct server *server, uint64_t file, uint64_t *list,
		    uint64_t *count)
{
	unsigned word = server->target->word;
	uint16_t number;

	if (!elf_words(server, file + FIELD(word, Ehdr, e_phoff), list, 1) ||
	    !state_read(server, file + FIELD(word, Ehdr, e_phnum), &number,
			sizeof(number)))
		return false;
	*list += file;
	*count = number;
	return true;
}

/* Reads an entry of a list, in the one of both forms that the target has. */
static bool read_entry(struct server *server, uint64_t list, uint64_t number,
		       void *wide, size_t wide_size, void *narrow,
		       size_t narrow_size)
{
	return server->target->word == WIDE ?
		       state_read(server, list + number * wide_size, wide,
				  wide_size) :
		       state_read(server, list + number * narrow_size, narrow,
				  narrow_size);
}

bool elf_header_at(struct server *server, uint64_t list, uint64_t number,
		   Elf64_Phdr *out)
{
	Elf32_Phdr narrow;

	if (!read_entry(server, list, number, out, sizeof(*out), &narrow,
			sizeof(narrow)))
		return false;
	if (server->target->word != WIDE)
		*out = (Elf64_Phdr) {
			.p_type = narrow.p_type, .p_flags = narrow.p_flags,
			.p_offset = narrow.p_offset, .p_vaddr = narrow.p_vaddr,
			.p_paddr = narrow.p_paddr, .p_filesz = narrow.p_filesz,
			.p_memsz = narrow.p_memsz, .p_align = narrow.p_align,
		};
	return true;
}

bool elf_symbol_at(struct server *server, uint64_t list, uint64_t number,
		   Elf64_Sym *out)
{
	Elf32_Sym narrow;

	if (!read_entry(server, list, number, out, sizeof(*out), &narrow,
			sizeof(narrow)))
		return false;
	if (server->target->word != WIDE)
		*out = (Elf64_Sym) {
			.st_name = narrow.st_name, .st_info = narrow.st_info,
			.st_other = narrow.st_other,
			.st_shndx = narrow.st_shndx,
			.st_value = narrow.st_value, .st_size = narrow.st_size,
		};
	return true;
}

size_t elf_relocation_size(unsigned word, bool has_addend)
{
	return has_addend ? SIZE(word, Rela) : SIZE(word, Rel);
}

bool elf_relocation_at(struct server *server, uint64_t list, uint64_t number,
		       bool has_addend, Elf64_Rela *out)
{
	unsigned word = server->target->word;
	size_t size = elf_relocation_size(word, has_addend);
	uint64_t words[3] = { 0 };

	if (!elf_words(server, list + number * size, words, size / word))
		return false;
	*out = (Elf64_Rela) { .r_offset = words[0], .r_info = words[1],
			      .r_addend = (int64_t)words[2] };
	if (word == WIDE)
		return true;
	out->r_info = ELF64_R_INFO(ELF32_R_SYM(words[1]),
				   ELF32_R_TYPE(words[1]));
	out->r_addend = (int32_t)words[2];
	return true;
}

/* ------- in files ------- */

size_t elf_file_size(unsigned word)
{
	return SIZE(word, Ehdr);
}

size_t elf_header_size(unsigned word)
{
	return SIZE(word, Phdr);
}

size_t elf_section_size(unsigned word)
{
	return SIZE(word, Shdr);
}

size_t elf_symbol_size(unsigned word)
{
	return SIZE(word, Sym);
}

static void add(struct text *out, unsigned word, const void *wide,
		size_t wide_size, const void *narrow, size_t narrow_size)
{
	if (word == WIDE)
		text_add_bytes(out, wide, wide_size);
	else
		text_add_bytes(out, narrow, narrow_size);
}

#define ADD(out, word, wide, narrow) \
	add(out, word, &(wide), sizeof(wide), &(narrow), sizeof(narrow))

void elf_add_file(struct text *out, unsigned word, Elf64_Ehdr file)
{
	Elf32_Ehdr narrow;

	memcpy(file.e_ident, ELFMAG, SELFMAG);
	file.e_ident[EI_CLASS] = word == WIDE ? ELFCLASS64 : ELFCLASS32;
	file.e_ehsize = elf_file_size(word);
	file.e_phentsize = elf_header_size(word);
	file.e_shentsize = elf_section_size(word);
	narrow = (Elf32_Ehdr) {
		.e_type = file.e_type, .e_machine = file.e_machine,
		.e_version = file.e_version, .e_entry = file.e_entry,
		.e_phoff = file.e_phoff, .e_shoff = file.e_shoff,
		.e_flags = file.e_flags, .e_ehsize = file.e_ehsize,
		.e_phentsize = file.e_phentsize, .e_phnum = file.e_phnum,
		.e_shentsize = file.e_shentsize, .e_shnum = file.e_shnum,
		.e_shstrndx = file.e_shstrndx,
	};
	memcpy(narrow.e_ident, file.e_ident, EI_NIDENT);
	ADD(out, word, file, narrow);
}

void elf_add_header(struct text *out, unsigned word, Elf64_Phdr header)
{
	const Elf32_Phdr narrow = {
		.p_type = header.p_type, .p_flags = header.p_flags,
		.p_offset = header.p_offset, .p_vaddr = header.p_vaddr,
		.p_paddr = header.p_paddr, .p_filesz = header.p_filesz,
		.p_memsz = header.p_memsz, .p_align = header.p_align,
	};

	ADD(out, word, header, narrow);
}

void elf_add_section(struct text *out, unsigned word, Elf64_Shdr section)
{
	const Elf32_Shdr narrow = {
		.sh_name = section.sh_name, .sh_type = section.sh_type,
		.sh_flags = section.sh_flags, .sh_addr = section.sh_addr,
		.sh_offset = section.sh_offset, .sh_size = section.sh_size,
		.sh_link = section.sh_link, .sh_info = section.sh_info,
		.sh_addralign = section.sh_addralign,
		.sh_entsize = section.sh_entsize,
	};

	ADD(out, word, section, narrow);
}

void elf_add_symbol(struct text *out, unsigned word, Elf64_Sym symbol)
{
	const Elf32_Sym narrow = {
		.st_name = symbol.st_name, .st_info = symbol.st_info,
		.st_other = symbol.st_other, .st_shndx = symbol.st_shndx,
		.st_value = symbol.st_value, .st_size = symbol.st_size,
	};

	ADD(out, word, symbol, narrow);
}

void elf_set_sections(struct text *out, unsigned word, uint64_t at)
{
	memcpy(out->bytes + FIELD(word, Ehdr, e_shoff), &at, word);
}
