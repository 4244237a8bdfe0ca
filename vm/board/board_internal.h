/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * board_internal.h - a board as its own room sees it
 *
 * run.c runs it and counts; exceptions.c enters exceptions; system.c answers
 * for registers of the system, timers.c among them; ram.c notices writes;
 * tables.c reads page tables; breaks.c has breakpoints; watch.c tells of
 * accesses; board.c makes it.
 */
#ifndef CPREC_VM_BOARD_BOARD_INTERNAL_H
#define CPREC_VM_BOARD_BOARD_INTERNAL_H

#include "formats/number_map.h"
#include "vm/board/board.h"
#include "vm/board/ram.h"
#include "vm/engine/machine.h"

#define INSN_SIZE 4u

/* Bits of PSTATE. */
#define PSTATE_LEVEL(pstate) ((pstate) >> 2 & 3)
#define PSTATE_OWN_SP UINT64_C(1)
#define PSTATE_MASKS_IRQ UINT64_C(0x80)

struct timer {
	uint64_t compare;
	unsigned control;
};

enum board_stopped {
	STOPPED_NOT,
	STOPPED_BEFORE,		/* the block `stop_block`: it goes too far */
	STOPPED_TO_REFRESH,	/* before it: translations are outdated */
	STOPPED_TO_PAUSE,	/* before it: the world wants that */
	STOPPED_AT_BREAK,	/* before it */
	STOPPED_BY_CALL,
	STOPPED_BY_UNKNOWN,	/* an exception that no processor has */
};

struct board {
	struct engine *engine;
	const struct board_world *world;
	struct ram ram;

	/* run.c: steps are those at the grant, and what is used of it. */
	uint64_t base;
	int64_t granted;
	uint64_t until;		/* of this run */
	uint64_t look_at;	/* steps at which the world is asked next */
	bool pauses;
	enum board_stopped stopped;
	uint32_t stop_block;
	unsigned unknown;	/* STOPPED_BY_UNKNOWN: which */
	guest_addr cut_at;	/* a block there is to have `cut` instructions */
	unsigned cut;		/* 0: there is none */
	bool drops_all;		/* code must be translated in another way */

	struct number_map breaks;
	struct number_map cuts;	/* where blocks begin because of one, perhaps
				   one that was cleared */
	guest_addr passed;	/* not to stop there ... */
	uint64_t passed_at;	/* ... then */
	uint64_t aborted_at;	/* steps when an instruction last led to its
				   handler without having retired */
	const struct board_watcher *watcher;	/* NULL: nobody */

	/* One for each translation; number 0 is no block. */
	struct engine_block *blocks;
	uint32_t block_count, block_room;

	struct timer timers[BOARD_TIMERS];
	uint64_t idle;		/* ticks */
};

/* ------- run.c ------- */

/* What the engine calls. */
extern const struct engine_machine_calls board_calls;

/* Of an instruction of the block under way: steps before it. */
uint64_t board_steps_at(const struct board *board, guest_addr pc);

/* ------- breaks.c ------- */

/* How many instructions a block has from `pc` on, `most` at most. */
unsigned breaks_cut(const struct board *board, guest_addr pc, unsigned most);

/* Whether there was a breakpoint; whether it is to stop the guest. */
bool breaks_may_stop(const struct board *board, guest_addr pc);
bool breaks_stop(const struct board *board, guest_addr pc, uint64_t now);

/* ------- watch.c ------- */

/* Tells what was logged.  Not in the middle of a block. */
void watch_tell(struct board *board);

/* Whether an instruction is told of before it executes; tells. */
bool watch_is_told(const struct board *board, guest_addr pc);
void watch_instruction(struct board *board, uint64_t steps, guest_addr pc);

/* How many steps may be granted at a time. */
uint64_t watch_limit(const struct board *board);

void watch_shift(struct board *board, uint64_t by);
void watch_take_back(struct board *board, guest_addr pc);

/* ------- exceptions.c ------- */

void exceptions_take(void *context, const struct engine_exception *exception);

/* Before the instruction at `pc`; false: that is masked. */
bool exceptions_interrupt(struct board *board, guest_addr pc);

/* ------- system.c ------- */

bool system_read(void *context, unsigned name, uint64_t *value);
bool system_write(void *context, unsigned name, uint64_t value);

/* ------- timers.c ------- */

uint64_t timers_ticks(const struct board *board, uint64_t steps);
bool timer_is_up(const struct timer *timer, uint64_t ticks);

/* ------- tables.c ------- */

/* The instruction at a virtual address; 0: nothing is there. */
uint32_t board_insn(const struct board *board, guest_addr pc);

#endif
