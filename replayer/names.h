/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - symbols of a recording, read when somebody asks
 *
 * Ownership:  names_release() frees; a zeroed structure is an empty one.  The
 *             recording is borrowed.
 * Errors:     ERR_NOT_FOUND, those of trace_file.h.
 */
#ifndef CPREC_REPLAYER_NAMES_H
#define CPREC_REPLAYER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/modules.h"

struct failure;
struct recording;

struct names {
	bool has_modules;
	struct modules modules;
	struct module_map map;
	size_t segment;		/* that `map` is of, if it has places */
};

/* As recording_find_symbol(). */
int names_find(struct names *names, struct recording *recording,
	       size_t segment, const char *name, uint64_t *addr,
	       uint64_t *size, struct failure *why);

/* As recording_name(). */
bool names_of(struct names *names, struct recording *recording, size_t segment,
	      uint64_t addr, char *text, size_t room);

/* As recording_module(). */
const struct symbols *names_module(struct names *names,
				   struct recording *recording, size_t segment,
				   uint64_t addr, uint64_t *bias);

/* As recording_mapped_module(). */
const struct symbols *names_mapped(struct names *names,
				   struct recording *recording, size_t segment,
				   size_t number, uint64_t *bias);

void names_release(struct names *names);

#endif
