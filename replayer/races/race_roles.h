/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_roles.h - where the functions of the C library are that have a role
 *
 * Found by their names among the recording's symbols, in code that is the
 * system's: an allocator of the program's own is part of the program.  Also of
 * libraries that run loops in threads, those by which one takes its part.
 *
 * Source: ISO C++17, 30.4.2 [iostream.objects.overview]: several threads may
 * use std::cout at the same time.
 *
 * Ownership:  race_roles_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NO_MEMORY.  A function without a symbol has no role.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_ROLES_H
#define CPREC_REPLAYER_RACES_RACE_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "replayer/races/race_homes.h"
#include "replayer/races/race_quiet.h"
#include "replayer/races/race_services.h"

struct names;

struct race_roles {
	struct number_map entries;	/* by the first instruction */
	uint64_t low, high;	/* no entry is outside of them */
	bool is_glibc;

	struct race_code library;	/* the file that it is in, all of it */
	const struct symbols *program;	/* if that is the program's, its;
					   else NULL */
	struct number_map services;	/* by the first instruction: of all
					   functions that have a name */
	uint64_t stdin_at, stdout_at;	/* where these variables are */
	uint64_t descriptor_at;	/* what glibc tells debuggers of its threads'
				   descriptors: their size; 0: nothing */

	/* What the runtime of C++ has promised to take care of: its static
	 * memory, std::cout and the like. */
	struct race_codes runtime;
};

/* Looks for the functions in what is mapped at time `t`. */
int race_roles_find(struct race_roles *roles, struct names *names, uint64_t t,
		    struct race_homes *homes);
void race_roles_release(struct race_roles *roles);

/*
 * For whom the function at `pc` of the C library works that the program calls.
 * Where the library is a file, those without a name are what it has chosen by
 * what the processor can do: memcpy() and the like.
 */
struct race_service race_roles_service(const struct race_roles *roles,
				       uint64_t pc);

/* Whether the runtime of C++ takes care of what is at `addr`. */
bool race_roles_is_runtime(const struct race_roles *roles, uint64_t addr);

/* The role of the function that begins at `pc`. */
static inline enum race_role race_role_of(const struct race_roles *roles,
					  uint64_t pc)
{
	const uint64_t *role;

	if (pc < roles->low || pc > roles->high)
		return ROLE_NONE;
	role = number_map_find(&roles->entries, pc);
	return role ? (enum race_role)*role : ROLE_NONE;
}

#endif
