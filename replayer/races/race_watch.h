/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_watch.h - of which code a search for races is told
 *
 * All code is of a part, by whose it is (race_homes.h): the search is told when
 * a thread comes from one to another.  Of most code that is all; its accesses
 * are told together, some time later.  Single instructions are told
 *
 * - where a function begins that has a role, and where it returns to;
 * - in the first replay, where debugging information says what is atomic: it
 *   takes the registers of the moment to know where that is;
 * - in the second replay, where the program loads what it may change, and where
 *   such values were followed once (race_flow.h).
 *
 * Units:      addresses are the guest's.
 * Ownership:  race_watch_release() frees; a zeroed structure is an empty one.
 * Errors:     those of race_note().
 */
#ifndef CPREC_REPLAYER_RACES_RACE_WATCH_H
#define CPREC_REPLAYER_RACES_RACE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/number_map.h"

struct race_replay;

struct race_watch {
	struct number_map returns;	/* of calls inside a part */
	struct number_map loads;	/* of what may be changed */
	struct number_map followed;	/* code by its number; see below */
};

/* For struct vm_observer; the context is a `struct race_replay`. */
unsigned race_watch_part(void *context, uint64_t pc);

/* The same, but of nothing but functions that take memory back. */
unsigned race_watch_given_back(void *context, uint64_t pc);

/* A function with a role was called that will return to `back`. */
void race_watch_return(struct race_replay *replay, uint64_t back);

/*
 * The instruction at `pc` loads what the program may change: it is to be told,
 * if it is not yet.
 */
void race_watch_load(struct race_replay *replay, uint64_t pc);

/*
 * Values are followed to `pc`: false if that is not told yet.  It will be, and
 * before it executes.
 */
bool race_watch_follows(struct race_replay *replay, uint64_t pc);

void race_watch_release(struct race_watch *watch);

#endif
