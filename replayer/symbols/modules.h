/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - the symbols of all modules of a recording
 *
 * Ownership:  modules_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NOT_FOUND, ERR_NO_MEMORY, those of symbols.h.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_MODULES_H
#define CPREC_REPLAYER_SYMBOLS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "formats/symbols.h"

struct modules {
	struct symbols *list;	/* as in the file */
	size_t count;
};

#define MODULE_NONE SIZE_MAX

/* Decodes and adds one module; a path that is already there is ignored. */
int modules_add(struct modules *modules, const uint8_t *bytes, size_t size);

/* The number of the module with this path, or MODULE_NONE. */
size_t modules_find(const struct modules *modules, const char *path,
		    size_t path_size);

void modules_release(struct modules *modules);

#endif
