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

#include <stdint.h>

#include <elfutils/libdwfl.h>

/*
 * More folders, with ':' between them, for the whole process; without this
 * those of the environment variable CPREC_DEBUG_DIR.  The text is borrowed.
 */
void debug_search_folders(const char *folders);

/* The same, as libdwfl wants them.  NULL without memory; valid for good. */
char *debug_search_path(void);

/*
 * Opens the file with the debugging information of `module`, whose own file is
 * `path`.  `*found` is its name, to be freed.
 */
int debug_search_open(Dwfl_Module *module, const char *path, const char *link,
		      uint32_t crc, char **found);

/*
 * Another place for a module that is not where it was: DIR/PATH, DIR/NAME or
 * DIR/NAME.debug, to be freed; NULL if there is none.  The first has the
 * number 0.
 */
char *debug_search_module(const char *path, unsigned number);

#endif
