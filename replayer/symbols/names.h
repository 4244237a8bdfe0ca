/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - symbols of a recording, read when somebody asks
 *
 * Names belong to a time: a process maps and unmaps modules, and may become
 * another program, at any instruction.
 *
 * Ownership:  names_release() frees; a zeroed structure is an empty one.  The
 *             recording is borrowed.
 * Errors:     ERR_NOT_FOUND, those of trace_file.h.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_NAMES_H
#define CPREC_REPLAYER_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/symbols/modules.h"
#include "replayer/symbols/parts.h"

struct failure;
struct recording;

/* A change of what is mapped of modules. */
struct names_change {
	uint64_t time;
	struct part_change change;
};

struct names {
	bool has_modules;
	struct modules modules;

	/* Of one segment: what is mapped at its start, and what changes. */
	bool has_segment;
	size_t segment;
	struct module_parts parts;
	struct names_change *changes;
	size_t change_count, change_room;

	/* As it is in a part of the segment. */
	bool has_map;
	uint64_t from, until;	/* times; not `until` itself */
	struct module_map map;
};

/* As recording_find_symbol(). */
int names_find(struct names *names, struct recording *recording, uint64_t t,
	       const char *name, uint64_t *addr, uint64_t *size,
	       struct failure *why);

/* As recording_check_names(). */
int names_check(struct names *names, struct recording *recording, uint64_t t,
		struct failure *why);

/* As recording_name(). */
bool names_of(struct names *names, struct recording *recording, uint64_t t,
	      uint64_t addr, char *text, size_t room);

/* As recording_module(). */
const struct symbols *names_module(struct names *names,
				   struct recording *recording, uint64_t t,
				   uint64_t addr, uint64_t *bias);

/* As recording_mapped_module(). */
const struct symbols *names_mapped(struct names *names,
				   struct recording *recording, uint64_t t,
				   size_t number, uint64_t *bias);

void names_release(struct names *names);

#endif
