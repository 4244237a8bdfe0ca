/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_file.h - files with units of debugging information: .dwo and .dwp
 *
 * A compiler with -gsplit-dwarf leaves a skeleton of each unit in the module, and
 * writes the rest to a file.  A package has the units of many such files, and a
 * table that says which part of each section is a unit's: its contribution.  In
 * another file, each section with units is one, and has all of the others.
 *
 * Ownership:  split_file_close() frees; a zeroed file is closed.
 * Errors:     none: what cannot be read is not there.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SPLIT_FILE_H
#define CPREC_REPLAYER_SYMBOLS_SPLIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

#include "formats/bytes.h"

enum split_section {
	SPLIT_INFO,
	SPLIT_TYPES,		/* of version 4 */
	SPLIT_ABBREV,
	SPLIT_LINE,
	SPLIT_LOC,		/* of version 4 */
	SPLIT_LOCLISTS,
	SPLIT_RNGLISTS,
	SPLIT_STR_OFFSETS,
	SPLIT_STR,
	SPLIT_UNITS,		/* which contributions units have, */
	SPLIT_TYPE_UNITS,	/* and those of types */
	SPLIT_SECTIONS
};

struct split_part {
	uint64_t offset, size;
};

/* A section with units: a file has one for each that linkers shall have once. */
struct split_piece {
	enum split_section which;
	struct split_part part;	/* of all of this kind */
};

struct split_file {
	int fd;
	Elf *elf;
	struct {
		const uint8_t *bytes;
		size_t size;
	} sections[SPLIT_SECTIONS];
	struct output units[SPLIT_TYPES + 1];	/* bytes of these sections */
	struct split_piece *pieces;
	size_t piece_count, piece_room;
};

/* False: there is no such file.  It does not wait for one, as for a pipe. */
bool split_file_open(struct split_file *out, const char *path);
void split_file_close(struct split_file *file);

static inline bool split_file_is_package(const struct split_file *file)
{
	return file->sections[SPLIT_UNITS].size;
}

/* Visits the contributions; of a package, those of both its tables. */
void split_file_each(const struct split_file *file,
		     void (*visit)(void *context,
				   const struct split_part parts[SPLIT_STR]),
		     void *context);

#endif
