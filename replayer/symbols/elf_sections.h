/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_sections.h - a file with other contents of some sections
 *
 * All else is as in the file, and where it was there.
 *
 * Errors:     -1: the file is not one that this can be done with, or there is no
 *             memory.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_ELF_SECTIONS_H
#define CPREC_REPLAYER_SYMBOLS_ELF_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

struct elf_contents {
	const char *name;	/* ".debug_info"; one that is not there is added */
	const uint8_t *bytes;
	size_t size;
};

/* The section of this name, or as it was called when packed; NULL: none. */
Elf_Scn *elf_section_find(Elf *elf, const char *name);

/*
 * Returns a file in memory, to be closed.  Nothing of `elf` was unpacked: what its
 * sections are like is as in the file.
 */
int elf_with_sections(Elf *elf, const struct elf_contents *list, size_t count);

#endif
