/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_functions.h - the functions of allocators, by their names
 *
 * Those of the C library, of C++, and what others call theirs.
 *
 * Errors:     none.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_FUNCTIONS_H
#define CPREC_REPLAYER_SESSION_HEAP_FUNCTIONS_H

#include <stdbool.h>

/* What a function does with its first arguments: a, b, c. */
enum heap_role {
	HEAP_NONE,
	HEAP_ALLOCATES,		/* a bytes */
	HEAP_ALLOCATES_SECOND,	/* b bytes */
	HEAP_ALLOCATES_MANY,	/* a times b bytes */
	HEAP_ALLOCATES_PAGES,	/* a bytes, up to a whole page */
	HEAP_ALLOCATES_AT,	/* c bytes; where, is stored at a */
	HEAP_RESIZES,		/* the block a, to b bytes */
	HEAP_RESIZES_MANY,	/* the block a, to b times c bytes */
	HEAP_FREES,		/* the block a */
	HEAP_TELLS_SIZE,	/* of the block a: all that may be used */
	HEAP_WORKS,		/* whatever the allocator has to do besides */
};

/* By the name that the linker knows. */
enum heap_role heap_role_of(const char *name);
bool heap_has_role(const char *name);

/* By the name that people see; only C's: "libc.so.6!free". */
bool heap_is_allocator(const char *shown);

/* Whether a module is the C library, by its path or the end of that. */
bool module_is_c_library(const char *path);

#endif
