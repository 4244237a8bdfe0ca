/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symbols.h - the symbols of an ELF file
 *
 * Ownership:  symbols_release() frees what elf_symbols() made.
 * Errors:     ERR_SYSTEM (no such file), ERR_CORRUPT (not an ELF file we can
 *             read), ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_ELF_SYMBOLS_H
#define CPREC_FORMATS_ELF_SYMBOLS_H

#include "formats/symbols.h"

/*
 * Reads .symtab, or .dynsym where a file was stripped; of the file at `path`, or,
 * if that is not -1, of `fd`, which stays open.
 */
int elf_symbols(struct symbols *out, const char *path, int fd);

#endif
