/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_parts.h - which build an ELF file is, and what debuggers need of it
 *
 * Units:      offsets in the file, bytes.
 * Ownership:  elf_parts_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_CORRUPT (not an ELF file we can read), ERR_NO_MEMORY.
 */
#ifndef CPREC_RECORDER_ELF_PARTS_H
#define CPREC_RECORDER_ELF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/module_files.h"

struct file_part {
	uint64_t offset, size;
};

struct elf_parts {
	struct build_id build_id;
	bool has_sections;

	/* What only executes or is data: code, constants, relocations.  What
	 * names, unwinds and tells of variables is none of it. */
	struct file_part *loaded;
	size_t count, room;
};

int elf_parts(struct elf_parts *out, int fd);
void elf_parts_release(struct elf_parts *parts);

/* Zeroes what `bytes`, which are at `offset` in the file, have of `loaded`. */
void elf_parts_blank(const struct elf_parts *parts, uint8_t *bytes,
		     uint64_t offset, size_t size);

#endif
