/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_homes.h - whose code it is: the program's, or the system's
 *
 * What the C library and the dynamic linker do among themselves is no race of
 * the program, nor is what libraries do that run a program's loops and tasks in
 * threads.  They are known by their files' names; in a program that is one
 * file, by what the program's debugging information does not cover.
 *
 * Ownership:  race_homes_release() frees; a zeroed structure is an empty one.
 *             The memory is borrowed.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_HOMES_H
#define CPREC_REPLAYER_RACES_RACE_HOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

enum race_home {
	HOME_UNKNOWN,
	HOME_PROGRAM,		/* and its libraries */
	HOME_CPP,		/* what C++ comes with: its code works for its
				   caller, its static memory is its own; also
				   functions that the compiler calls for single
				   instructions */
	HOME_RUNTIME,		/* of OpenMP and the like: what it accesses is
				   how it orders the program's threads */
	HOME_C_LIBRARY,
	HOME_LINKER,
};

struct race_code {
	uint64_t start, end;
};

struct race_codes {
	struct race_code *list;
	size_t count, room;
};

int race_codes_add(struct race_codes *codes, uint64_t start, uint64_t end);

/* Threads go to and fro between a few files. */
#define RACE_HOMES_KNOWN 8u

struct race_homes {
	struct memory *memory;
	struct race_codes program;	/* sorted; none: all that is not in a
					   file of the system */
	struct race_codes helpers;	/* functions of the compiler's own */
	struct race_known_home {
		struct race_code code;
		enum race_home home;
	} known[RACE_HOMES_KNOWN];	/* the last ones; the next to go is */
	unsigned next;
};

/* Says what code is the program's; before race_homes_start(). */
int race_homes_add(struct race_homes *homes, uint64_t start, uint64_t end);

/*
 * Says where the compiler has put a function for a single instruction into the
 * program: code that it calls, of which nobody has written a line.
 */
int race_homes_add_helper(struct race_homes *homes, uint64_t start,
			  uint64_t end);
void race_homes_forget_helpers(struct race_homes *homes);

/* Looks at the regions of `memory` from now on. */
void race_homes_start(struct race_homes *homes, struct memory *memory);

/* The regions may change now. */
void race_homes_change(struct race_homes *homes);

enum race_home race_home_of(struct race_homes *homes, uint64_t pc);

/* What a file's name says. */
enum race_home race_home_of_file(const char *path);

/*
 * Whether it matters which objects of a file are atomic.  The system accesses
 * its own as it must.
 */
bool race_home_has_atomics(const char *path);

/* Whether its locks are the program's: not those of the C library. */
static inline bool race_home_is_program(enum race_home home)
{
	return home == HOME_PROGRAM || home == HOME_CPP;
}

void race_homes_release(struct race_homes *homes);

#endif
