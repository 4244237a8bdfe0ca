/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_functions.h - the functions whose calls somebody wants
 *
 * Of several names of one function, the one that looks least internal is shown.
 *
 * A resolver is no function, but tells where it is: which one of several is
 * called is decided by what the processor is like, when the program is linked.
 *
 * Ownership:  call_functions_release() frees; functions last until then.
 *             Patterns, lines and `is_found` are borrowed.
 * Errors:     ERR_NO_MEMORY, those of lines.h.
 */
#ifndef CPREC_REPLAYER_SESSION_CALL_FUNCTIONS_H
#define CPREC_REPLAYER_SESSION_CALL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/region.h"
#include "replayer/symbols/symbols.h"

struct call_function {
	char *name;		/* "Server::serve(int)" */
	char *linkage_name;	/* NULL: the same */
	char *module;		/* "libz.so.1" */
	bool is_program;
	const struct symbols *symbols;	/* the module's */
	guest_addr addr;	/* as in the module's file */
	uint64_t size;		/* 0: not known */
	bool is_resolver;
	bool is_resolved;	/* a resolver told of it */
	uint64_t patterns;	/* that mean it, a bit for each; the last one is
				   of all behind, too */
	bool is_called;		/* by somebody who is wanted */
	uint64_t calls;		/* that are over */
	uint64_t steps;		/* in them, but for those within others of the
				   same function, and those that were left */
};

struct call_functions {
	struct lines *lines;
	struct symbol_pattern *patterns;
	size_t pattern_count;
	bool *is_found;		/* of each pattern, whether it means any;
				   NULL: nobody asks */
	bool (*is_wanted)(const char *name);	/* as the linker knows it; if it
						   is not NULL, no patterns */

	struct call_function **list;
	size_t count, room;
	struct number_map by_addr;	/* of the module that was listed last */
	size_t module;			/* its first function */
};

void call_functions_release(struct call_functions *functions);

/* Whether one that the pattern with this number means was called. */
bool call_functions_called(const struct call_functions *functions,
			   size_t number);

/*
 * Adds those of the module with this number (names_mapped()): they are from
 * functions->module on.
 */
int call_functions_list(struct call_functions *functions, uint64_t t,
			size_t number, struct failure *why);

/* Whether any that is mapped at time `t` is a resolver. */
int call_functions_resolve(struct call_functions *functions, uint64_t t,
			   bool *out, struct failure *why);

/*
 * A resolver told of the function at `addr`, as in its module's file.  `*out` is
 * NULL if that is known.
 */
int call_functions_add(struct call_functions *functions,
		       const struct call_function *resolver, guest_addr addr,
		       struct call_function **out, struct failure *why);

#endif
