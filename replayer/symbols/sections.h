/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sections.h - which section of a module's file is where
 *
 * Errors:     none; what is in no section, or whose file is not there, is not
 *             found.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SECTIONS_H
#define CPREC_REPLAYER_SYMBOLS_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct section {
	Elf *elf;
	Elf_Scn *handle;
	GElf_Shdr header;
	const char *name;	/* ".plt", ".text"; the file's */
	uint64_t offset;	/* of what is looked for */
};

/* Addresses are those of libdwfl. */
bool section_find(Dwfl_Module *module, uint64_t addr, struct section *out);

#endif
