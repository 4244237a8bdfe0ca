/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_heap.h - blocks and errors of a heap, as text and as JSON
 *
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_TOOLS_PRINT_HEAP_H
#define CPREC_TOOLS_PRINT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "replayer/session/session.h"
#include "tools/asking.h"

struct heap_printing {
	const struct asking *asking;
	const struct heap *heap;
	uint64_t stack;		/* frames of each call; 0: as many as it takes
				   to understand it */
	bool errors;		/* they were looked for */
	bool json;
	const char *program;	/* the path of what the process was; or NULL */
	json_t *callers;	/* a member for each that was seen: the same
				   code allocates again and again */
};

/* Those that are alive, in the order in which they were allocated; ... */
int print_heap_blocks(const struct heap_printing *printing,
		      struct failure *why);

/* ... or together those that the same code has allocated, the most first. */
int print_heap_sites(const struct heap_printing *printing, struct failure *why);

int print_heap_errors(const struct heap_printing *printing,
		      struct failure *why);

/* How much there is of all. */
void print_heap_summary(const struct heap_printing *printing);

#endif
