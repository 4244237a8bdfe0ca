/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_atomics.h - which memory is atomic by its type, wherever it is
 *
 * Loads and stores of atomic objects are ordinary instructions.  Of global
 * variables the debugging information says all (lines_each_atomic()); of the
 * heap and of stacks the first replay finds atomic objects where they are
 * accessed: by code of a function for atomic objects, or at the address and of
 * the size that an atomic part has of what a typed pointer leads to.  Such
 * pointers are variables, local or not, and parts of what they lead to.
 *
 * A pointer alone marks nothing: it may be stale, or lead behind an array.
 *
 * Units:      addresses are the guest's.
 * Ownership:  race_atomics_release() frees; a zeroed structure is an empty
 *             one, which finds nothing.
 * Errors:     those of race_note().
 */
#ifndef CPREC_REPLAYER_RACES_RACE_ATOMICS_H
#define CPREC_REPLAYER_RACES_RACE_ATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "replayer/symbols/symbols.h"

struct lines;
struct race_replay;

/* What is known of the code at one address. */
struct race_code_facts {
	const struct dwarf_place **places;
	size_t count, room;
	bool has_frame;		/* its address is a register and an offset: */
	unsigned frame_reg;
	uint64_t frame_offset;
};

/* By their numbers in DWARF. */
#define RACE_REGISTERS 32u

#define RECENT_CODE 4096u
#define EXPECTED_BITS 65536u

struct race_atomics {
	struct lines *lines;
	struct dwarf_places places;
	struct race_code_facts *facts;
	size_t fact_count, fact_room;
	struct number_map code;	/* from addresses to facts */
	struct {
		uint64_t pc, fact;	/* as in `code`; 0: free */
	} recent[RECENT_CODE];
	uint64_t expected[EXPECTED_BITS / 64];	/* by words, modulo: whether
					   `sizes` or `pointers` may have it */
	struct number_map sizes;	/* from words to eight bytes, the size of
					   the atomic object that each byte may
					   be the first of */
	struct number_map pointers;	/* from addresses to types pointed to */
	uint64_t any_sizes;	/* bits: sizes that atomic objects have that are
				   not variables; all if that is not known */
	uint64_t sp, registers[RACE_REGISTERS];	/* that were noted */
	struct number_map lined;	/* by addresses of code: it has lines */
};

/* Reads what debugging information says of what is mapped at time `t`. */
int race_atomics_start(struct race_atomics *atomics, struct lines *lines,
		       uint64_t t);

/* Whether debugging information says of the code at `pc` where atomics are. */
bool race_atomics_knows(struct race_replay *replay, uint64_t pc);

/*
 * An instruction is about to execute: notes its registers if variables may be
 * found by them, for its accesses, which are told when it has.
 */
void race_atomics_step(struct race_replay *replay);

/* Whether anything is known that can be atomic. */
static inline bool race_atomics_is_needed(const struct race_atomics *atomics)
{
	return atomics->places.count || atomics->pointers.count;
}

/* The program's code accesses memory; `value` is what it reads or writes. */
void race_atomics_access(struct race_replay *replay, uint64_t addr,
			 unsigned size, bool writes, uint64_t value);

/*
 * Whether debugging information would say that an object is atomic that the
 * code at `place` accesses: it has some, and the object is a variable of the
 * same file, or there are no atomic objects of that size.
 */
bool race_atomics_would_tell(struct race_replay *replay, uint64_t place,
			     uint64_t addr, uint64_t size);

/* Other memory is there now. */
void race_atomics_forget(struct race_replay *replay, uint64_t addr,
			 uint64_t size);

void race_atomics_release(struct race_atomics *atomics);

#endif
