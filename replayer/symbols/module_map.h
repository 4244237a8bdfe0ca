/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_map.h - where the modules of a recording are at one time
 *
 * Ownership:  module_map_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NOT_FOUND, ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_MODULE_MAP_H
#define CPREC_REPLAYER_SYMBOLS_MODULE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/symbols/modules.h"
#include "replayer/symbols/parts.h"

/* Where each module is at one time; parallel to `list`. */
struct module_place {
	bool mapped;
	guest_addr part;	/* where its lowest part is */
	guest_addr start, end;	/* of all of it */
	uint64_t bias;		/* added to addresses as in the file */
};

struct module_map {
	struct module_place *places;
	size_t count;
	size_t program;		/* module whose symbols come first, and are
				   named alone; or MODULE_NONE */
};

/* Finds the place of each module in the parts that are mapped of it. */
int module_map_init(struct module_map *map, const struct modules *modules,
		    const struct module_parts *parts);
void module_map_release(struct module_map *map);

/*
 * Finds "NAME", or "LIBRARY!NAME" where LIBRARY is a file's name without its
 * directories, or that without its last numbers.  `*size` is that of data; 0
 * for code, or if the module does not say.  Where no symbol is called so, NAME
 * may be a demangled one, with or without arguments; ERR_INPUT if several are
 * that.
 */
int module_map_find(const struct module_map *map,
		    const struct modules *modules, const char *name,
		    uint64_t *addr, uint64_t *size);

/* Length of the LIBRARY of such a name, if no such is mapped; else 0. */
size_t module_map_lacks(const struct module_map *map,
			const struct modules *modules, const char *name);

/* The module that is mapped at an address, or NULL; `*bias` is its. */
const struct symbols *module_map_at(const struct module_map *map,
				    const struct modules *modules,
				    uint64_t addr, uint64_t *bias);

/* Names an address, as names_of() does. */
bool module_map_name(const struct module_map *map,
		     const struct modules *modules, uint64_t addr, char *text,
		     size_t room);

#endif
