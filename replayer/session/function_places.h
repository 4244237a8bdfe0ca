/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_places.h - where the code of the functions is that a pattern means
 *
 * A function may have code of its own, copies that were inlined in others, or
 * both.  Breakpoints, log and when ask here for all of it; calls and the heap
 * follow what is called, which is what call_functions.h lists.
 *
 * Units:      addresses are those at a time.
 * Ownership:  functions are those of struct call_functions.
 * Errors:     ERR_NO_MEMORY, those of lines.h and of the visits.
 */
#ifndef CPREC_REPLAYER_SESSION_FUNCTION_PLACES_H
#define CPREC_REPLAYER_SESSION_FUNCTION_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/session/call_functions.h"
#include "replayer/symbols/symbols.h"

struct function_place {
	struct call_function *function;	/* NULL: a copy that was inlined */
	guest_addr entry;		/* where control comes into it */
	guest_addr stop;		/* where a breakpoint on it stops */
	bool has_code;			/* debugging information knows: */
	struct function_code code;
};

/* What is known of a function that begins at an address. */
void function_place_find(struct lines *lines, uint64_t t,
			 struct call_function *function, guest_addr entry,
			 struct function_place *out);

/* How many functions are inlined in it, one in the other, at an address. */
unsigned function_place_inlines(struct lines *lines,
				const struct function_place *place,
				guest_addr addr);

/* A result other than 0 ends the visits and is returned. */
typedef int function_place_visit(void *context,
				 const struct function_place *place);

/*
 * Visits the places in the module with this number (names_mapped()).  Adds its
 * functions to `functions`, which has one pattern, and its copies to `copies`.
 */
int function_places_visit(struct call_functions *functions, uint64_t t,
			  size_t number, struct inlined_copies *copies,
			  function_place_visit *visit, void *context,
			  struct failure *why);

/* Counts the copies in what is mapped at time `t`. */
int function_copies_count(struct lines *lines, uint64_t t,
			  const struct symbol_pattern *pattern,
			  struct inlined_copies *out, struct failure *why);

#endif
