/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm.h - one guest processor and its memory
 *
 * Runs translated code and says exactly where and why it stopped.  It knows
 * nothing of operating systems, recordings or files.
 *
 * Every block of guest code is decoded once, before it first runs: that
 * counts its instructions and finds those that the engine would execute
 * wrongly, which stop the guest instead.
 *
 * Units:      steps are retired instructions; a REP string instruction is
 *             one step, a system call is one.
 * Ownership:  the caller owns the `struct vm` and ends it with vm_destroy();
 *             the memory belongs to it.
 * Errors:     ERR_SYSTEM (the engine's words are in `why`), ERR_NO_MEMORY.
 *             A guest that faults is no error: it is a reason to stop.
 * Threads:    none; one `struct vm` is used by one thread at a time.
 */
#ifndef CPREC_VM_VM_H
#define CPREC_VM_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/lines_seen.h"
#include "formats/region.h"
#include "formats/registers.h"
#include "vm/memory/memory.h"

struct failure;
struct vm;

enum vm_stop_kind {
	VM_STOP_BUDGET,		/* the steps asked for are done */
	VM_STOP_SYSCALL,	/* a system call instruction retired */
	VM_STOP_FAULT,		/* the instruction at `pc` cannot retire */
	VM_STOP_VALUE,		/* the instruction at `pc` has a result that
				   must be captured: see vm_emulate() */
	VM_STOP_ASKED,		/* vm_interrupt() was called */
	VM_STOP_BREAK,		/* before an instruction with a breakpoint */
};

enum vm_fault_kind {
	FAULT_MEMORY,		/* `addr` is not mapped or not permitted */
	FAULT_PRIVILEGE,	/* general protection: privileged, or an address
				   that no program can have */
	FAULT_INVALID,		/* not an instruction of this processor */
	FAULT_BREAKPOINT,	/* int3; it has retired, `pc` is after it; of
				   AArch64, brk: it has not */
	FAULT_DEBUG,		/* int1; the same; or any instruction of a
				   program that steps itself */
	FAULT_DIVIDE,
	FAULT_FLOAT,		/* of a floating-point exception; which ones are
				   raised and unmasked is in the registers */
	FAULT_INTERRUPT,	/* `number` of another int instruction */
	FAULT_ALIGNMENT,	/* `addr` is not aligned: of code, if it is the
				   program counter */
};

/* How control came to an instruction. */
enum vm_way {
	VM_WAY_UNKNOWN,
	VM_WAY_CALL,
	VM_WAY_RETURN,
	VM_WAY_OTHER,		/* by a jump; or it ran on */
};

struct vm_stop {
	enum vm_stop_kind kind;
	guest_addr pc;			/* where the guest stands now */
	enum vm_fault_kind fault;	/* VM_STOP_FAULT */
	enum vm_access access;		/* FAULT_MEMORY */
	guest_addr addr;		/* FAULT_MEMORY, FAULT_ALIGNMENT */
	bool mapped;			/* FAULT_MEMORY: but not permitted */
	unsigned number;		/* FAULT_INTERRUPT */
	unsigned detail;		/* FAULT, VALUE: the architecture's own */
	bool is_clock;			/* VALUE: it tells the time ... */
	bool tells_processor;		/* ... and which processor it is */
	unsigned size;			/* VM_STOP_VALUE and SYSCALL: of the
					   instruction */
	enum vm_way way;		/* VM_STOP_BREAK */
	guest_addr from;		/* ... of the instruction before, if the
					   way is known */
};

/*
 * `observer` (of memory.h, may be NULL) learns what happens to the memory.  It
 * is accessed directly if `direct` and it can be (docs/processor.md).
 */
int vm_create(struct vm **out, enum arch arch, bool direct,
	      const struct memory_observer *observer, struct failure *why);
void vm_destroy(struct vm *vm);

/*
 * The guest gets a processor of another architecture, as at its start; what it
 * has mapped, and the count of steps, stay.  The present thread is the only
 * one, and nobody observes.  If it fails, nothing has changed.
 */
int vm_become(struct vm *vm, enum arch arch, struct failure *why);

/*
 * It is to behave as processors of an earlier behaviour did, of
 * formats/processor.h.  Only before the first vm_run().
 */
void vm_behave_as(struct vm *vm, uint64_t behaviour);

/*
 * The process is about to be forked: from the second time on, what its children
 * translate is there for each other.
 */
void vm_keep_translations(struct vm *vm);

/*
 * All code that was mapped is gone: what follows an exec may have been translated
 * by others.
 */
void vm_forget_code(struct vm *vm);

struct memory *vm_memory(struct vm *vm);
const struct reg_table *vm_reg_table(const struct vm *vm);

/*
 * Runs until something happens or `budget` steps are done.  With `exact` it
 * stops after precisely that many; without, it may stop up to a block
 * earlier, which costs less.
 */
int vm_run(struct vm *vm, uint64_t budget, bool exact, struct vm_stop *stop,
	   struct failure *why);

/*
 * From now on steps are not counted: the guest runs faster, budgets are not
 * heeded and vm_steps() says nothing.  Only before the first vm_run().
 */
void vm_run_uncounted(struct vm *vm);

/*
 * The guest and those that it forks will share memory; `move` is as in
 * family_create().  Behind vm_run_uncounted().
 */
int vm_share_memory(struct vm *vm, int (*move)(int fd), struct failure *why);

/* Steps retired since the guest was made (or vm_set_steps()). */
uint64_t vm_steps(const struct vm *vm);
void vm_set_steps(struct vm *vm, uint64_t steps);

/*
 * To about how many different addresses returns, other indirect jumps and jumps
 * to another page went since vm_count_targets(): a measure of how much code was
 * executed, and of the time it takes to translate it again.  0: not known.
 */
uint32_t vm_targets(const struct vm *vm);
void vm_count_targets(struct vm *vm);

/*
 * Callable while the guest runs, from an observer: steps that had retired when
 * the present block was entered.  vm_steps() counts all of the block then.
 */
uint64_t vm_steps_at_block(const struct vm *vm);

/* ------- threads ------- */

/*
 * The registers of a guest thread that is not the present one.  All threads
 * share memory, translations and the count of steps.  A new vm has one thread,
 * which is never freed before the vm.
 */
struct vm_thread;

/* Makes a thread with a copy of the present one's registers. */
int vm_thread_create(struct vm *vm, struct vm_thread **out,
		     struct failure *why);

/* Frees a thread that is not the present one.  NULL is allowed. */
void vm_thread_destroy(struct vm *vm, struct vm_thread *thread);

/* The present thread; the one that the calls about registers mean. */
struct vm_thread *vm_thread_current(const struct vm *vm);

/* Makes another thread the present one; costs some 0.3 microseconds. */
void vm_thread_switch(struct vm *vm, struct vm_thread *thread);

/*
 * The present thread gets the processor back from the guest's kernel: what a
 * processor forgets then, it has forgotten.
 */
void vm_thread_resumes(struct vm *vm);

/* ------- registers ------- */

/* Registers of at most 8 bytes. */
uint64_t vm_reg(struct vm *vm, unsigned reg);
void vm_set_reg(struct vm *vm, unsigned reg, uint64_t value);

void vm_registers(struct vm *vm, struct reg_file *out);
void vm_set_registers(struct vm *vm, const struct reg_file *regs);

/*
 * After VM_STOP_VALUE: executes the instruction on this machine, retires it
 * and moves on.  A replay sets the registers itself and calls vm_skip().
 */
void vm_emulate(struct vm *vm, const struct vm_stop *stop);
void vm_skip(struct vm *vm, const struct vm_stop *stop);

/*
 * Behind either: whether the program steps itself, so that the instruction has
 * trapped, too.  Then `*stop` is that fault.
 */
bool vm_trap(struct vm *vm, struct vm_stop *stop);

/* The number of the processor, for programs that ask for it; 0 at first. */
void vm_set_processor(struct vm *vm, unsigned number);

/* Whether the guest runs at this moment; for signal handlers. */
bool vm_is_running(const struct vm *vm);

/*
 * Stops a running guest at the next block, or the next vm_run() at once.
 * May be called from a signal handler.
 */
void vm_interrupt(struct vm *vm);

/*
 * How many pieces of code are translated, also those that were dropped: each
 * takes some 1300 bytes.
 */
uint32_t vm_translations(const struct vm *vm);

/*
 * Stops a running guest also, as vm_interrupt() does, when it has executed as
 * many PAUSE instructions in one run: it waits for another thread.  0: never.
 */
void vm_limit_pauses(struct vm *vm, unsigned most);

/* Whether the last run was stopped by that. */
bool vm_has_paused(const struct vm *vm);

/*
 * Sets or clears a breakpoint: the guest stops before the instruction at `pc`
 * executes.  Code without breakpoints runs at full speed.  ERR_NO_MEMORY.
 */
int vm_break_set(struct vm *vm, guest_addr pc, struct failure *why);
void vm_break_clear(struct vm *vm, guest_addr pc);
bool vm_break_is_set(const struct vm *vm, guest_addr pc);

/*
 * The next vm_run() does not stop at the instruction that the guest stands at.
 */
void vm_break_pass(struct vm *vm);

/*
 * Who learns what the guest does.  Code that nobody observes runs at full
 * speed.  An instruction that is told takes as long as twenty.  Accesses are
 * logged by the code itself, and told together: see docs/processor.md for what
 * that costs.
 */
struct vm_range {
	guest_addr first, last;	/* both included */
};
#define VM_EVERYWHERE ((struct vm_range){ 0, UINT64_MAX })

/* An access to data of an instruction that has retired. */
struct vm_access_told {
	guest_addr pc;		/* of the instruction */
	uint8_t own[6];		/* whoever tells has these to himself */
	uint8_t size;		/* at most 8: wide accesses come in parts */
	bool writes;
	uint64_t steps;		/* before the instruction */
	guest_addr addr;	/* as memory_home() has it */
	uint64_t value;		/* that is written or read, if asked for */
};

/* Which accesses are told. */
#define VM_READS 1u
#define VM_WRITES 2u
#define VM_ALL (VM_READS | VM_WRITES)
#define VM_VALUES 4u		/* with what is read and written */

#define VM_PART_TOLD 0x80u	/* whenever the guest comes to it */

struct vm_observer {
	/* An instruction in `code` is about to execute; one that faults may be
	 * told too.  May read registers and memory.  May be NULL. */
	void (*instruction)(void *context, uint64_t steps, guest_addr pc);
	struct vm_range code;

	/*
	 * If it is not NULL, `code` is of no account: told is what this says of
	 * the instruction at `pc`, asked when it is translated.  Either the
	 * number of a part of the code, from 1 to 127: told is the first one
	 * that is executed in a run or behind one of another part.  Or 0: never.
	 * With VM_PART_TOLD it is told always.  The register that tells where
	 * the guest stands may be old then.  One observer at most has this.
	 */
	unsigned (*part)(void *context, guest_addr pc);

	/*
	 * The guest has accessed data, some of it in `data`, in this order.
	 * They are told some time later, but before the next instruction that
	 * is told, and before the run ends: registers and memory may be those
	 * of a later time.  An instruction that faults is not told.
	 */
	void (*accessed)(void *context, const struct vm_access_told *list,
			 size_t count);
	unsigned accesses;	/* VM_READS and so on; 0: none */
	struct vm_range data;
	const struct vm_range *parts;	/* of `data`, only these; NULL: all */
	size_t part_count;

	/* One access of each kind, in each line and epoch, is all that must be
	 * told of those that are told together.  NULL: all are told. */
	const struct line_epochs *epochs;

	void *context;		/* of both */
};

/* Of these accesses, tells it of those that it wants. */
void vm_observer_tell(const struct vm_observer *observer,
		      const struct vm_access_told *list, size_t count);

/*
 * Adds or removes an observer, which is the caller's.  Not while the guest
 * runs.  Translations are dropped.
 */
int vm_observe(struct vm *vm, const struct vm_observer *observer,
	       struct failure *why);
void vm_unobserve(struct vm *vm, const struct vm_observer *observer);

/*
 * What an observer's `part` says of this code has changed.  Callable from it,
 * also when it is told of an instruction there: it is told of that again then,
 * before it executes.
 */
void vm_replan(struct vm *vm, guest_addr addr, uint64_t size);

/* The same of all code; not while the guest runs. */
void vm_replan_all(struct vm *vm);

/*
 * Callable from such an observer that is told of an instruction: the one that
 * was executed before it; 0: not known.
 */
guest_addr vm_came_from(const struct vm *vm);

/* How an instruction's accesses are seen by other threads. */
enum vm_order {
	VM_PLAIN,
	VM_ATOMIC,		/* reads and writes at once */
	VM_COMPARES,		/* the same, but may leave all as it was */
};

/* Callable from an observer, while the guest stands at `pc`. */
enum vm_order vm_order(struct vm *vm, guest_addr pc);

/*
 * Which registers an instruction computes from which, a bit each: general ones
 * by their numbers, vectors from VM_FLOW_VECTORS on.  All that it writes, also
 * to memory, depends on all that it reads.  One whose condition does not hold
 * does nothing.
 */
#define VM_FLOW_VECTORS 32u
#define VM_FLOW_REGISTERS 64u

struct vm_flow {
	uint64_t reads, writes;
	uint64_t low, high;	/* of `writes`, if that has a name: nothing but
				   the lowest byte, or the one above it, or both */
};

/* The same. */
struct vm_flow vm_flow(struct vm *vm, guest_addr pc);

/* How it leads to what is executed behind it. */
struct vm_lead {
	enum vm_way way;
	bool jumps;		/* to a place that it names, or calls that */
};

/* The same. */
struct vm_lead vm_lead(struct vm *vm, guest_addr pc);

/* Bytes of a system call's instruction, in the code that the guest stands in. */
unsigned vm_call_size(struct vm *vm);

/* "mov rax, rbx" for a person; `size` gets the instruction's length. */
void vm_disassemble(struct vm *vm, guest_addr pc, char *text, size_t room,
		    unsigned *size);

/* How instructions are written. */
enum vm_syntax { VM_INTEL, VM_ATT };

#define VM_INSTRUCTION_MOST 16u		/* bytes of any */

struct vm_instruction {
	unsigned size;		/* 0: it is none, or cut off */
	char text[192];
	bool leads_on;		/* a jump, a call or a return: what comes next
				   need not be behind it */
	enum vm_way way;	/* VM_WAY_OTHER if it is a jump */
	bool unwinds;		/* all it does is to take a frame down */
	bool jumps;		/* or calls what is at the target */
	bool has_target;	/* the text names a place in code or data: */
	guest_addr target;
};

/* The instruction whose first bytes these are, at `pc`. */
void vm_instruction(struct vm *vm, guest_addr pc, const uint8_t *code,
		    size_t size, enum vm_syntax syntax,
		    struct vm_instruction *out);

/* The same, without a guest.  `arch` may be a machine's. */
struct vm_decoder;
int vm_decoder_create(struct vm_decoder **out, enum arch arch,
		      struct failure *why);
void vm_decoder_destroy(struct vm_decoder *decoder);
void vm_decoder_show(struct vm_decoder *decoder, guest_addr pc,
		     const uint8_t *code, size_t size, enum vm_syntax syntax,
		     struct vm_instruction *out);

/* Name and version of the engine. */
const char *vm_engine(void);

#endif
