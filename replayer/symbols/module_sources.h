/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_sources.h - where the files of modules are: in the recording, or here
 *
 * A file of this machine is the module's if it has the build id that was
 * recorded; without a build id, if it has the symbols.  Another one is never
 * used, nor is any file that the recording does not name.  Of one that the
 * recording keeps, what is here is taken only if it is as large: else somebody
 * has taken out what is kept.
 *
 * Ownership:  module_source_release() frees.  Lines and kept files are
 *             borrowed.
 * Errors:     ERR_NOT_FOUND, with the reason; those of recording.h.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_MODULE_SOURCES_H
#define CPREC_REPLAYER_SYMBOLS_MODULE_SOURCES_H

#include <stdbool.h>

#include "formats/module_files.h"

struct failure;
struct lines;

struct module_source {
	const struct kept_file *kept;	/* in the recording; or NULL: */
	char *path;			/* on this machine, */
	int fd;				/* open; else -1 */
};

/*
 * By a name that debuggers look for: a module's path; DIR/.build-id/ab/cdef or
 * DIR/.build-id/ab/cdef.debug; or the one with debugging information that a
 * module without a build id names, beside it, in .debug there, or in a folder
 * with folders for all.
 */
int module_source_find(struct module_source *out, struct lines *lines,
		       const char *name, struct failure *why);

/* Ends it.  One that was not found needs no end. */
void module_source_release(struct module_source *source);

/*
 * Whether all that the recording would give of its modules is on this machine,
 * where a debugger looks for it.
 */
bool module_sources_are_here(struct lines *lines);

#endif
