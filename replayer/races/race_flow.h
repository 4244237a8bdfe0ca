/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_flow.h - whether a thread changes a word by a load and a store
 *
 * A store is the second half of a change if what it writes was computed from
 * what the same thread has loaded of the same bytes, however long ago; a store
 * of anything else, as when a lock is given back, is not.  The values of loads
 * are followed through registers, and through the thread's stack.
 *
 * Units:      addresses are the guest's.
 * Ownership:  plain data; zeroed, nothing is followed.
 * Errors:     none: of very many values the oldest are forgotten.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_FLOW_H
#define CPREC_REPLAYER_RACES_RACE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/vm.h"

/* So many loads are followed at a time, a bit each in a `race_loads`. */
#define FLOW_LOADS 8u
#define FLOW_SLOTS 8u

typedef uint8_t race_loads;

struct race_flow_slot {
	uint64_t addr, size;
	race_loads loads;	/* whose values are in it; 0: it is free */
};

struct race_flow {
	struct {
		uint64_t addr, size;
	} loads[FLOW_LOADS];
	unsigned next_load, next_slot;	/* to be replaced */
	race_loads used;	/* are followed */
	race_loads registers[VM_FLOW_REGISTERS];
	struct race_flow_slot slots[FLOW_SLOTS];
	race_loads now;		/* what the present instruction depends on */
	uint64_t writes;	/* the registers that get it */
};

static inline bool race_flow_is_on(const struct race_flow *flow)
{
	return flow->used;
}

/*
 * What the thread has executed is done, and left it this stack pointer: some
 * values may not be followed any more.  Then it is about to execute another
 * instruction.
 */
void race_flow_settle(struct race_flow *flow, uint64_t sp);
void race_flow_step(struct race_flow *flow, struct vm_flow insn);

/* It loads, or it loads what it may change. */
void race_flow_load(struct race_flow *flow, uint64_t addr, uint64_t size);
void race_flow_follow(struct race_flow *flow, struct vm_flow insn,
		      uint64_t addr, uint64_t size);

/*
 * It stores, with this stack pointer; whether it is the second half of a
 * change.
 */
bool race_flow_store(struct race_flow *flow, uint64_t addr, uint64_t size,
		     uint64_t sp);

/* It changes the bytes indivisibly: loads before that are of no account. */
void race_flow_end(struct race_flow *flow, uint64_t addr, uint64_t size);

#endif
