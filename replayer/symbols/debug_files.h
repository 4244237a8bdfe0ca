/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_files.h - debugging information of a recording's modules
 *
 * A module's file is that which the recording keeps, or the names have.
 * Without one, it is looked for where the module was, and where debug_search.h
 * says; so is its debugging information, which may be in a file of its own.  A
 * file that has not the build id that was recorded is another version, and is
 * not used; without a build id, one that has not the symbols.
 *
 * Units:      addresses are as in the module's file.
 * Ownership:  debug_files_release() ends all; a zeroed structure, but for the
 *             recording, is empty.  What is found is valid until then.  Modules
 *             and the recording are borrowed.
 * Errors:     none: what is not there is not found.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DEBUG_FILES_H
#define CPREC_REPLAYER_SYMBOLS_DEBUG_FILES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "formats/symbols.h"

struct debug_file;
struct names;
struct recording;

struct debug_files {
	struct recording *recording;
	const struct names *names;	/* which have files of their own */
	struct debug_file **list;
	size_t count, room;
};

/* The file of a module, or NULL. */
Dwfl_Module *debug_files_find(struct debug_files *files,
			      const struct symbols *symbols);

/*
 * Its debugging information, or NULL.  `*bias` is to be added to the addresses
 * in it.
 */
Dwarf *debug_files_dwarf(struct debug_files *files,
			 const struct symbols *symbols, uint64_t *bias);

void debug_files_release(struct debug_files *files);

#endif
