/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symbols.h - the symbols of an ELF file, for a recording to carry
 *
 * Ownership:  symbols_release() frees what elf_symbols() made.
 * Errors:     ERR_SYSTEM (no such file), ERR_CORRUPT (not an ELF file we can
 *             read), ERR_NO_MEMORY.
 */
#ifndef CPREC_RECORDER_ELF_SYMBOLS_H
#define CPREC_RECORDER_ELF_SYMBOLS_H

#include "formats/symbols.h"

/* Reads .symtab, or .dynsym where a file was stripped. */
int elf_symbols(struct symbols *out, const char *path);

#endif
