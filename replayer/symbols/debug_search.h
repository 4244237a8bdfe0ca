/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_search.h - where files with debugging information are looked for
 *
 * By build id, as DIR/.build-id/ab/cdef.debug; by the name that the program's
 * section .gnu_debuglink has, beside the program and in DIR; and in DIR, by the
 * program's own name.  DIR is /usr/lib/debug, and those that the user names.
 * No server is asked.
 *
 * Ownership:  nothing is kept but the folders.
 * Errors:     -1: not found.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DEBUG_SEARCH_H
#define CPREC_REPLAYER_SYMBOLS_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct build_id;

/*
 * More folders, with ':' between them, for the whole process; without this, or
 * with NULL, those of the environment variable CPREC_DEBUG_DIR.  The text is
 * borrowed.
 */
void debug_search_folders(const char *folders);

/* They, or "". */
const char *debug_search_named(void);

/* The folder with this number, the default one last, as `*length` bytes; false
 * behind it. */
bool debug_search_folder(unsigned number, const char **out, size_t *length);

/* From now on they are the same wherever the process goes. */
void debug_search_stay(void);

/*
 * Who is told, for the whole process, in a sentence, of a file that is another
 * build than that which was recorded, and of names that are lost; NULL: nobody.
 */
void debug_search_notes(void (*tell)(const char *text));
void debug_search_note(const char *text);

/*
 * The folders, as libdwfl wants them.  NULL without memory; valid until there
 * are others.
 */
char *debug_search_path(void);

/*
 * Opens the file with the debugging information of `module`, whose own file is
 * `path`: a member of Dwfl_Callbacks.  `*found` is its name, to be freed.
 */
int debug_search_open(Dwfl_Module *module, void **data, const char *name,
		      Dwarf_Addr base, const char *path, const char *link,
		      GElf_Word crc, char **found);

/*
 * Opens the file with the debugging information of a module with a build id; it
 * need not be here itself.  `*found` as above.
 */
int debug_search_build_id(const struct build_id *build_id, const char *path,
			  char **found);

/*
 * The names of files that go with the module in a file: the one with its
 * debugging information, and the one that this, or the module itself, names in
 * its section .gnu_debugaltlink.  To be freed; NULL if there is none.
 */
void debug_search_files(const char *module, char **debug, char **extra);

/*
 * Another place for a module that is not where it was: what is called DIR, if
 * it is a file; DIR/PATH, DIR/NAME or DIR/NAME.debug; to be freed; NULL if there
 * is none.  The first has the number 0.
 */
char *debug_search_module(const char *path, unsigned number);

/* ------- split units (split_file.h) ------- */

/* What they belong to. */
struct debug_place {
	const char *file;	/* that was opened, */
	const char *module;	/* and the module that it goes with, as recorded */
	const char *recording;	/* the folder that it is in; NULL: not looked at */
};

/*
 * Where the file of a unit may be that a compiler has called `name` in `folder`:
 * there; where the module was, or is; beside the recording; as DIR/NAME, of the
 * whole name or its last part, or DIR itself.  To be freed; NULL: there are no
 * more.  The first has the number 0.
 */
char *debug_search_unit(const struct debug_place *place, const char *name,
			const char *folder, unsigned number);

/* Likewise a package: of the name of the module, with ".dwp" behind it. */
char *debug_search_package(const struct debug_place *place, unsigned number);

#endif
