/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * board_internal.h - a board as its own room sees it
 *
 * run.c runs it and counts; cores.c has several cores take turns; ram.c notices
 * writes; breaks.c has breakpoints; watch.c tells of accesses; board.c makes it.
 * What only one kind of processor
 * has is in a table of its own (struct board_kind):
 *
 * AArch64: arm64.c has its registers; exceptions.c enters exceptions; system.c
 * answers for registers of the system, timers.c among them; tables.c reads page
 * tables.
 *
 * ARMv7-M: cortex_m.h.
 */
#ifndef CPREC_VM_BOARD_BOARD_INTERNAL_H
#define CPREC_VM_BOARD_BOARD_INTERNAL_H

#include "formats/number_map.h"
#include "vm/board/board.h"
#include "vm/board/ram.h"
#include "vm/engine/machine.h"

#define INSN_SIZE 4u
#define BOARD_FAULT_MOST 160u

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
	STOPPED_TO_GO_ON,	/* the engine had to; nothing else did */
	STOPPED_TO_PAUSE,	/* before it: the world wants that */
	STOPPED_AT_BREAK,	/* before it */
	STOPPED_BY_CALL,
	STOPPED_TO_WAIT,	/* the processor sleeps when it has returned */
	STOPPED_LOCKED,
	STOPPED_BY_UNKNOWN,	/* an exception that no processor has */
};

#define FAULT_REGISTERS 9u

/* A fault in the kernel that comes again and again, exceptions.c. */
struct fault_loop {
	uint64_t before[FAULT_REGISTERS];	/* the last instruction that
						   retired, there were these */
	uint64_t at;		/* steps, then; */
	bool has_before;	/* if there are any */
	guest_addr pc;
	uint64_t syndrome;
	uint64_t start;		/* steps at the first one */
	unsigned count;
};

/* What each core has for itself. */
struct core {
	struct reg_file regs;	/* of one that is not present */
	struct fault_loop fault_loop;
	struct timer timers[BOARD_TIMERS];
	uint64_t left_programs;	/* how often: board_left_programs() */
	uint64_t left_at;	/* steps when that was last */
};

struct cortex_m;

/* What a kind of processor has of its own. */
struct board_kind {
	enum arch arch;
	uint64_t ticks_per_second;
	unsigned steps_per_tick;
	unsigned pc, idle, result;	/* registers */
	unsigned monitor;	/* 0: no core loses what it has marked */
	const struct engine_machine_calls *calls;

	/* What it has besides struct board; NULL: nothing. */
	int (*start)(struct board *board, const char *model,
		     struct failure *why);
	void (*end)(struct board *board);

	/* Registers of at most 8 bytes; false: the engine has it. */
	bool (*get)(const struct board *board, unsigned reg, uint64_t *value);
	bool (*set)(struct board *board, unsigned reg, uint64_t value);
	void (*set_all)(struct board *board, const struct reg_file *regs);

	/* NULL: addresses are physical. */
	struct page_tables (*tables)(const struct board *board);

	/* Of the instruction at `pc`; instructions in that much code. */
	unsigned (*size)(const struct board *board, guest_addr pc);
	unsigned (*count)(const struct board *board, guest_addr pc,
			  uint32_t size);

	/* A block is to be translated: of at most so many instructions.  And it
	 * is entered, uninlined: false if it must be so each time; then it may
	 * have been left.  NULL: all are alike. */
	unsigned (*limit)(struct board *board, guest_addr pc, unsigned most);
	bool (*enter)(struct board *board, const struct engine_block *block);

	/* One interrupt is like another, and waits until it is taken or a device
	 * is told otherwise. */
	bool has_line;

	/* Before the instruction at `pc`; false: that is masked. */
	bool (*interrupt)(struct board *board, guest_addr pc, unsigned number);

	/* It has locked up, and does not run; NULL: it stands as it is to. */
	void (*locked)(struct board *board);

	/* There can be no code at `pc`; NULL: the engine raises exceptions. */
	void (*unfetched)(struct board *board, guest_addr pc);

	/* Whether the instruction before `pc` waits for an interrupt. */
	bool (*waits)(const struct board *board, guest_addr pc);

	/* As board_is_stuck(); NULL: it locks up by itself. */
	bool (*is_stuck)(const struct board *board);
};
extern const struct board_kind board_kind_arm64, board_kind_cortex_m;

struct board {
	const struct board_kind *kind;
	uint64_t behaviour;		/* as board_behave_as() */
	struct cortex_m *cortex_m;	/* NULL: it is none */
	struct engine *engine;
	const struct board_world *world;
	struct ram ram;

	/* run.c: steps are those at the grant, and what is used of it. */
	uint64_t base;
	int64_t granted;
	uint64_t until;		/* of this run */
	uint64_t look_at;	/* steps at which the world is asked next */
	bool held;		/* it wants to interrupt, which is masked */
	bool is_masked;		/* an interrupt is, since ... */
	uint64_t masked_at;
	bool pauses;
	enum board_stopped stopped;
	uint32_t stop_block;
	unsigned unknown;	/* STOPPED_BY_UNKNOWN: which */
	char fault[BOARD_FAULT_MOST];	/* STOPPED_LOCKED: why */
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

	struct core cores[BOARD_CORES_MOST];
	unsigned core_count, core;	/* the present one */
	uint32_t space;		/* board_look_for_space(); */
	bool found_space;	/* it was used, with this table: */
	uint64_t space_table;
	uint64_t idle;		/* ticks */
};

/* ------- cores.c ------- */

struct core *board_present(struct board *board);

/* ------- run.c ------- */

/* What the engine calls, of all kinds. */
#define BOARD_BASIC_CALLS                                                      \
	.translate = board_on_translate, .meet = board_on_meet,                \
	.enter = board_on_enter
unsigned board_on_translate(void *context, guest_addr pc, unsigned most);
uint32_t board_on_meet(void *context, guest_addr pc, uint32_t size);
const struct engine_block *board_on_enter(void *context, uint32_t number,
					  enum engine_entry entry);

/* The block under way; NULL: none is. */
const struct engine_block *board_block(const struct board *board);

/* What the block was counted for from `pc` on has not been executed. */
void board_leave_block(struct board *board, guest_addr pc);
void board_stop(struct board *board, enum board_stopped why);

/* An exception was raised: what was counted and told until there is right. */
void board_count_exception(struct board *board,
			   const struct engine_exception *exception);

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

/* Tells of tables that the present core has from these steps on. */
void watch_tables(const struct board *board, uint64_t steps,
		  const struct page_tables *tables);

void watch_shift(struct board *board, uint64_t by);
void watch_take_back(struct board *board, guest_addr pc);

/* ------- exceptions.c ------- */

void exceptions_take(void *context, const struct engine_exception *exception);
void exceptions_locked(struct board *board);
void exceptions_unfetched(struct board *board, guest_addr pc);
bool exceptions_enter(struct board *board, const struct engine_block *block);
bool exceptions_interrupt(struct board *board, guest_addr pc, unsigned number);

/* ------- arm64.c ------- */

/* The present core leaves a program. */
void arm64_note_space(struct board *board);

/* ------- system.c ------- */

bool system_read(void *context, unsigned name, uint64_t *value);
bool system_write(void *context, unsigned name, uint64_t value);

/* ------- timers.c ------- */

uint64_t timers_ticks(const struct board *board, uint64_t steps);
bool timer_is_up(const struct timer *timer, uint64_t ticks);

/* ------- tables.c ------- */

/* As board_translate(), by these. */
bool tables_translate(const struct board *board,
		      const struct page_tables *tables, guest_addr addr,
		      uint64_t *out);

/* The instruction at a virtual address; 0: nothing is there. */
uint32_t board_insn(const struct board *board, guest_addr pc);

#endif
