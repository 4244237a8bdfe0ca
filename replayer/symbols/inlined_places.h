/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined_places.h - where functions were inlined that a pattern means
 *
 * Source: what gdb does: a breakpoint on a function also stops where each
 * inlined copy of it begins, whatever scope the function is in.
 *
 * Units:      addresses are those at a time.
 * Errors:     ERR_NO_MEMORY, those of the visits.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_INLINED_PLACES_H
#define CPREC_REPLAYER_SYMBOLS_INLINED_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/symbols/code_places.h"

struct lines;
struct symbol_pattern;

/* How many copies debugging information has, and of how many it knows code. */
struct inlined_copies {
	size_t all, found;
};

/* A result other than 0 ends the visits and is returned. */
typedef int inlined_visit(void *context, const struct function_code *copy);

/*
 * Visits the copies, each place once, as they are at time `t` in the module with
 * this number (names_mapped()), and adds to `copies`.
 */
int inlined_places_visit(struct lines *lines, uint64_t t, size_t number,
			 const struct symbol_pattern *pattern,
			 struct inlined_copies *copies, inlined_visit *visit,
			 void *context);

#endif
