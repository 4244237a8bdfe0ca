/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - which parts of modules are mapped where, mapping by mapping
 *
 * Follows the changes of the address space, as far as they concern modules.
 *
 * Units:      addresses, sizes and offsets are bytes.
 * Ownership:  module_parts_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_PARTS_H
#define CPREC_REPLAYER_SYMBOLS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"
#include "formats/region.h"
#include "replayer/symbols/modules.h"

/* A mapping of a piece of a module's file. */
struct module_part {
	guest_addr start, end;
	uint64_t offset;	/* in the file */
	size_t module;
};

struct module_parts {
	struct module_part *list;	/* not sorted, not overlapping */
	size_t count, room;
};

/* What MAP, UNMAP and MOVE do. */
struct part_change {
	enum packet_kind kind;
	guest_addr addr, target;
	uint64_t size;
	uint64_t offset;	/* MAP of a module: in its file */
	size_t module;		/* MAP; or MODULE_NONE */
};

/* False if the packet changes no mappings of whole pages. */
bool part_change_of(struct part_change *out, const struct packet *packet,
		    const struct modules *modules);

/* Adds a mapping where nothing of a module is. */
int module_parts_add(struct module_parts *parts,
		     const struct module_part *part);

/* Changes the parts; `*any` says whether any was changed. */
int module_parts_change(struct module_parts *parts,
			const struct part_change *change, bool *any);

/* Makes `to` the same as `from`. */
int module_parts_copy(struct module_parts *to,
		      const struct module_parts *from);

void module_parts_release(struct module_parts *parts);

#endif
