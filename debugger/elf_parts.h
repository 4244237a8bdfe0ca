/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_parts.h - what is in files of programs, and in their loader's memory
 *
 * Programs of 32 bits have the same structures as those of 64, of other sizes and
 * in another order: all are read as, and made from, those of 64 bits.  Lists of
 * the loader are words, and so is what the kernel tells a program.
 *
 * Units:   `word` is the bytes of an address: 4 or 8.
 * Errors:  a read is false if any byte is not known.
 */
#ifndef CPREC_DEBUGGER_ELF_PARTS_H
#define CPREC_DEBUGGER_ELF_PARTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;
struct text;

uint64_t elf_word(unsigned word, const void *bytes);

/* ------- in memory ------- */

/* So many words from `addr` on. */
bool elf_words(struct server *server, uint64_t addr, uint64_t *out,
	       unsigned count);

/* What the loader knows of a module: link_map. */
struct elf_module {
	uint64_t bias, name, dynamic, next;
};

bool elf_module_at(struct server *server, uint64_t addr,
		   struct elf_module *out);

/* Where a file that begins at `file` has its program headers. */
bool elf_headers_of(struct server *server, uint64_t file, uint64_t *list,
		    uint64_t *count);

/* The one of this number in a list that begins at `list`. */
bool elf_header_at(struct server *server, uint64_t list, uint64_t number,
		   Elf64_Phdr *out);
bool elf_symbol_at(struct server *server, uint64_t list, uint64_t number,
		   Elf64_Sym *out);

/* Without an addend of its own, it is 0: what was there has been relocated. */
bool elf_relocation_at(struct server *server, uint64_t list, uint64_t number,
		       bool has_addend, Elf64_Rela *out);
size_t elf_relocation_size(unsigned word, bool has_addend);

/* ------- in files ------- */

size_t elf_file_size(unsigned word);		/* of the file's header */
size_t elf_header_size(unsigned word);
size_t elf_section_size(unsigned word);
size_t elf_symbol_size(unsigned word);

/* The class and all sizes in `file` are set. */
void elf_add_file(struct text *out, unsigned word, Elf64_Ehdr file);
void elf_add_header(struct text *out, unsigned word, Elf64_Phdr header);
void elf_add_section(struct text *out, unsigned word, Elf64_Shdr section);
void elf_add_symbol(struct text *out, unsigned word, Elf64_Sym symbol);

/* The headers of its sections are at `at`: a file in `out` is told. */
void elf_set_sections(struct text *out, unsigned word, uint64_t at);

#endif
