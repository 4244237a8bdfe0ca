/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_object.h - the file of a module that a machine's kernel has loaded
 *
 * That is an object file, NAME.ko, each section of which the kernel has put
 * somewhere.  The kernel may tell where; so do symbols that the file and the
 * kernel's memory have.  If they do not agree, the file is another build.
 *
 * Ownership:  kernel_object_release() ends it; a zeroed one, too.
 * Errors:     none: what is not there is not found.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_KERNEL_OBJECT_H
#define CPREC_REPLAYER_SYMBOLS_KERNEL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/symbols.h"

struct module_sections;

struct kernel_object {
	uint64_t *sections;	/* address of each, or OBJECT_NOWHERE */
	size_t count;
};

/* As libdwfl has it: a section that is not in memory. */
#define OBJECT_NOWHERE UINT64_MAX

/* The pieces of memory that a module is in, each with its symbols; sections, as
 * far as the kernel tells. */
struct kernel_pieces {
	const struct symbols **list;
	size_t count;
	const struct module_sections *sections;
};

/* Whether an open file is that of the module; then where its sections are. */
bool kernel_object_place(struct kernel_object *out, int fd,
			 const struct kernel_pieces *pieces);
void kernel_object_release(struct kernel_object *object);

/* Whether a file has the module's name. */
bool kernel_object_is_called(const char *path, const char *name);

/*
 * Visits the names of files that may be the module's: DIR, if it is a file; what
 * is called NAME.ko in DIR, below DIR/lib/modules/RELEASE, or below
 * DIR/usr/lib/debug/lib/modules/RELEASE.  DIR is as in debug_search.h.  True ends
 * the visits, and is returned.
 */
bool kernel_object_search(const char *name, const char *release,
			  bool (*visit)(void *context, const char *path),
			  void *context);

#endif
