/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_place.h - a block of the heap by an address in it: "heap:EXPRESSION"
 *
 * A pointer means the block that it points into; what was computed is an
 * address itself; any other variable means the block that it is in.
 *
 * Errors:     ERR_NOT_FOUND: there is no such block then; those of
 *             expressions.h and heap.h.
 */
#ifndef CPREC_TOOLS_HEAP_PLACE_H
#define CPREC_TOOLS_HEAP_PLACE_H

#include <stdint.h>

#include "replayer/expressions/expressions.h"

struct failure;

/* The expression behind "heap:", or NULL. */
const char *heap_place_expression(const char *text);

/* Where the block is that is alive then, and how large it is. */
int heap_place_find(struct expressions *expressions, const char *expression,
		    const struct expression_place *place, uint64_t *addr,
		    uint64_t *size, struct failure *why);

#endif
