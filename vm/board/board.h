/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * board.h - a machine's processor and its memory
 *
 * Executes all that a machine executes, kernels and programs, and says exactly
 * where and why it stopped.  What is not processor or RAM is the world: the
 * devices while recording (virt.h), the recording in a replay.  So a replay has
 * no devices.  This room never knows recordings or files, but for the images
 * that a machine starts with.
 *
 * Units:      steps are retired instructions; ticks are those of the counter of
 *             the generic timer.  Addresses of RAM and devices are physical.
 * Ownership:  board_destroy() ends a board; the world is the caller's.
 * Errors:     ERR_SYSTEM (the engine's words are in `why`), ERR_NO_MEMORY.
 * Threads:    one uses a board at a time, and runs it; there may be others.
 */
#ifndef CPREC_VM_BOARD_BOARD_H
#define CPREC_VM_BOARD_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/lines_seen.h"
#include "formats/page_tables.h"
#include "formats/region.h"
#include "formats/registers.h"

struct board;
struct failure;

/* All but `look` and `taken` may be called in the middle of a block. */
struct board_world {
	uint64_t (*read)(void *context, uint64_t addr, unsigned size);
	void (*write)(void *context, uint64_t addr, unsigned size,
		      uint64_t value);

	/*
	 * Between two blocks: whether the processor is to be interrupted, and
	 * by which interrupt, where it takes several.  It need not be asked
	 * again before `*next` steps.  NULL: interrupts come by
	 * board_interrupt() alone.
	 */
	bool (*look)(void *context, unsigned *number, uint64_t *next);

	/* It was interrupted. */
	void (*taken)(void *context, unsigned number);

	void *context;
};

/* A piece of RAM; both are multiples of GUEST_PAGE. */
struct board_ram {
	uint64_t base, size;
};

#define BOARD_RAMS_MOST 4u

/* `model` is a name of formats/processor.h; pieces are sorted by address. */
int board_create(struct board **out, enum arch arch, const char *model,
		 const struct board_ram *rams, unsigned ram_count,
		 const struct board_world *world, struct failure *why);
void board_destroy(struct board *board);

/* ------- running ------- */

enum board_stop {
	BOARD_AT_STEPS,		/* those that were asked for are done */
	BOARD_WAITS,		/* a WFI has retired */
	BOARD_CALLS,		/* an HVC has, or an SMC; of ARMv7-M a BKPT */
	BOARD_PAUSES,		/* the world wanted it */
	BOARD_LOCKED,		/* a fault that nobody can handle: it will never
				   go on */
	BOARD_AT_BREAK,		/* before an instruction with a breakpoint */
};

/*
 * Runs until `until` steps are done, or something else happens.  If it is not
 * `exact`, it may stop up to a block earlier, which costs less.
 */
int board_run(struct board *board, uint64_t until, bool exact,
	      enum board_stop *stop, struct failure *why);

/* It is to behave as processors of an earlier behaviour did, of
 * formats/processor.h. */
void board_behave_as(struct board *board, uint64_t behaviour);

uint64_t board_steps(const struct board *board);
void board_set_steps(struct board *board, uint64_t steps);

/* While it runs: steps before the block under way. */
uint64_t board_steps_at_block(const struct board *board);

/* While it runs: the world wants to be asked before the next block; or wants it
 * to stop there. */
void board_look_soon(struct board *board);
void board_pause(struct board *board);

/* Interrupts it where it stands; false: it has that masked. */
bool board_interrupt(struct board *board, unsigned number);

/* BOARD_LOCKED, or stuck: why, in words. */
const char *board_fault(const struct board *board);

/* Whether it executes a loop that does nothing, and that no interrupt ends. */
bool board_is_stuck(struct board *board);

/* How often an exception of a core has led from a program into the kernel. */
uint64_t board_left_programs(const struct board *board, unsigned core);

/* ------- cores ------- */

/*
 * A board has one core, or several that take turns: one at a time is present,
 * and all that is said here of a processor is said of it.  The others stand
 * still.  Memory, steps and the counter are those of all.
 */
#define BOARD_CORES_MOST 8u

/* So many there are from now on; the new ones are as the present one is. */
void board_set_cores(struct board *board, unsigned count);
unsigned board_cores(const struct board *board);
unsigned board_core(const struct board *board);

/* Another is present; what the one before has marked for itself is not marked
 * any more.  Not while it runs. */
void board_switch(struct board *board, unsigned core);

/* As board_registers() and so on, of any core. */
void board_core_registers(const struct board *board, unsigned core,
			  struct reg_file *out);
void board_set_core_registers(struct board *board, unsigned core,
			      const struct reg_file *regs);

/* ------- breakpoints ------- */

/*
 * It stops before the instruction at a virtual address, in whatever process.
 * ERR_NO_MEMORY.
 */
int board_break_set(struct board *board, guest_addr pc, struct failure *why);
void board_break_clear(struct board *board, guest_addr pc);
bool board_break_is_set(const struct board *board, guest_addr pc);

/* The next run does not stop at the instruction that it stands at. */
void board_break_pass(struct board *board);

/* ------- being told ------- */

/* An access to memory of an instruction that has retired. */
struct board_access {
	uint64_t steps;		/* before the instruction */
	guest_addr pc;		/* of it: virtual */
	uint64_t addr;		/* physical */
	uint64_t value;		/* that is written or read, if asked for */
	uint8_t size;		/* at most 8: wide accesses come in parts */
	bool writes;
};

#define BOARD_READS 1u
#define BOARD_WRITES 2u
#define BOARD_VALUES 4u		/* with what is read and written */

struct board_watcher {
	/* Told some time later, but before the run ends, and before the next
	 * instruction that is told; registers and memory may be those of a
	 * later time. */
	unsigned accesses;	/* BOARD_READS and so on */
	void (*accessed)(void *context, const struct board_access *list,
			 size_t count);
	const struct line_epochs *epochs;	/* as in vm.h */

	/* An instruction from `first` to `last` is about to execute; one that
	 * does not retire is told, too.  PC may be old.  NULL: nobody is. */
	void (*instruction)(void *context, uint64_t steps, guest_addr pc);
	guest_addr first, last;

	/* These are the present core's, behind an instruction that changes
	 * them; steps are those behind it.  NULL: nobody is told. */
	void (*tables)(void *context, uint64_t steps,
		       const struct page_tables *tables);
	void *context;
};

/* Takes the place of the one before; NULL: nobody is told.  Not while it
 * runs. */
int board_watch(struct board *board, const struct board_watcher *watcher,
		struct failure *why);

/*
 * In a replay, where no device is: told what devices were read for, were told,
 * and stored, and calls of the firmware.  A core `begins` where all its registers
 * are set anew.
 */
struct board_follower {
	void (*read)(void *context, uint64_t addr, uint64_t value);
	void (*write)(void *context, uint64_t addr, unsigned size,
		      uint64_t value);
	void (*interrupted)(void *context, unsigned number);
	void (*stored)(void *context, bool begins);
	/* `error`: why it failed, if it did, and if that was recorded. */
	void (*called)(void *context, uint64_t result, const uint64_t *error);
	void *context;
};

/* ------- registers ------- */

/* Those that the world sets: ticks that were skipped, at a WFI; what a call
 * returns. */
unsigned board_reg_idle(const struct board *board);
unsigned board_reg_result(const struct board *board);

/* Of at most 8 bytes. */
uint64_t board_reg(const struct board *board, unsigned reg);
void board_set_reg(struct board *board, unsigned reg, uint64_t value);

void board_registers(const struct board *board, struct reg_file *out);
void board_set_registers(struct board *board, const struct reg_file *regs);

/* ------- time ------- */

uint64_t board_ticks(const struct board *board);
uint64_t board_ticks_per_second(const struct board *board);

/* The timers of each core of AArch64. */
enum board_timer { BOARD_TIMER_VIRTUAL, BOARD_TIMER_PHYSICAL, BOARD_TIMERS };

/* Whether a timer wants to interrupt. */
bool board_timer_is_up(const struct board *board, unsigned core,
		       enum board_timer which);

/* At which tick the next one of all will, that does not yet; UINT64_MAX:
 * none. */
uint64_t board_timer_next(const struct board *board);

/* How many steps must be done for that tick. */
uint64_t board_steps_of(const struct board *board, uint64_t tick);

/* ------- memory ------- */

/* Pages of RAM are counted from 0, over all pieces. */
uint64_t board_pages(const struct board *board);

/* The address / GUEST_PAGE of one, and the other way round. */
uint64_t board_guest_page(const struct board *board, uint64_t page);
uint64_t board_page(const struct board *board, uint64_t guest_page);

/* Bytes of RAM; NULL: some of them are none. */
const uint8_t *board_bytes(const struct board *board, uint64_t addr,
			   uint64_t size);

/* Four of them as a number; 0: some are none. */
uint32_t board_word(const struct board *board, uint64_t addr);

/* Changes RAM, at most to the end of a page.  Not while it runs. */
void board_store(struct board *board, uint64_t addr, const void *bytes,
		 size_t size);

/* The same with any size. */
void board_load(struct board *board, uint64_t addr, const uint8_t *bytes,
		size_t size);

/* A virtual address by the page tables of this moment; false: nothing there. */
bool board_translate(const struct board *board, guest_addr addr, uint64_t *out);

/* Those of the present core; zeros if it has none. */
struct page_tables board_tables(const struct board *board);

/* A part of tables; false: no RAM is there. */
bool board_entry(const struct board *board, uint64_t addr, uint64_t *entry);

/* What tells whoever knows the kernel which process is that of a core. */
struct board_view {
	bool is_program;	/* it is not in the kernel */
	uint64_t program_sp, kernel_sp;	/* SP_EL0, SP_EL1 */
	struct page_tables tables;
	uint64_t left_at;	/* steps when an exception last led from a
				   program into the kernel, if it was executed */
};
struct board_view board_view(const struct board *board, unsigned core);

/*
 * Of AArch64: from now on, programs are looked for that are executed with this
 * number of an address space (ASID).  The first table that the last of them
 * has, or had when it gave way to the kernel; false: there was none.
 */
#define BOARD_NO_SPACE UINT32_MAX	/* nothing is looked for, as at first */
void board_look_for_space(struct board *board, uint32_t number);
bool board_found_space(const struct board *board, uint64_t *table);

/* Pages of RAM that were written since board_close(), in order of time. */
struct board_write {
	uint64_t page;		/* address / GUEST_PAGE */
	uint64_t steps;		/* it was not written before */
};
const struct board_write *board_writes(const struct board *board,
				       size_t *count);
void board_close(struct board *board);

#endif
