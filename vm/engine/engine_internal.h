/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine_internal.h - an engine as its own room sees it */
#ifndef CPREC_VM_ENGINE_ENGINE_INTERNAL_H
#define CPREC_VM_ENGINE_ENGINE_INTERNAL_H

#include <unicorn/unicorn.h>

#include "vm/engine/engine.h"
#include "vm/engine/machine.h"

/*
 * Direct-mapped tables: an entry that is not there is found out again, by
 * decoding a block or asking the engine.  The sizes are choices: a larger table
 * has more hits, and fewer of the host's caches hold it.  TARGET_BITS bounds
 * what engine_targets() can count.
 */
#define KNOWN_BLOCKS 65536
#define KNOWN_JUMPS 32768
#define REPLACED_JUMPS 65536
#define TARGET_BITS (1u << 17)

/* As translated code reads it (build/jumps.c). */
struct known_jump {
	uint64_t pc;
	const void *code;	/* the translation there; asks, if nothing is */
};

/* One that another took the place of. */
struct replaced_jump {
	struct known_jump jump;
	uint64_t age;		/* holds if it is that of all */
};

/* See build/jumps.c. */
struct jumps {
	bool are_ours;		/* not so with CPREC_NO_JUMPS */
	bool are_inline;	/* not so with CPREC_NO_SITES */
	bool stay;		/* what is dropped is no code */
	/* Where translated code goes back to the engine: what it answers if
	 * there is no translation; in front of them all. */
	const uint8_t *way_out;
	uint64_t missed;
	struct known_jump known[KNOWN_JUMPS];
	uint32_t in_use[KNOWN_JUMPS];	/* those that are to be forgotten */
	uint32_t use_count;
	struct replaced_jump replaced[REPLACED_JUMPS];
	uint64_t age;		/* how often all were forgotten */
	/* One bit for each address that a jump went to, by its hash. */
	uint64_t targets[TARGET_BITS / 64];
	uint32_t target_count;
	uint32_t counts;	/* how often counting began anew */
};

/* The engine ends a block before it has as many operations. */
#define ENGINE_PLACES 8192u

struct engine_context {
	uc_context *bytes;
};

/*
 * Of both ARMs: where the exclusive monitor is in the state, which no register
 * tells; of AArch64 also its higher half, and the program counter; of 32-bit ARM
 * what CPSR says of Thumb and IT.
 */
struct engine_arm {
	uint64_t *addr, *value;
	uint64_t *high, *pc;
	uint32_t *thumb, *it;	/* see build/jumps.h; NULL: not looked for */
	guest_addr above;	/* see build/drop_arm.c; mostly 0 */
	/* Of a machine: what the newest exception is about. */
	struct engine_exception_state *exception;
	struct engine_cortex_m cortex_m;
	bool align_all;		/* accesses must be aligned */
};

/* Addresses that are no RAM, from `base` on. */
struct hole {
	struct engine *engine;
	uint64_t base;
};

/* As the engine has it (QEMU: CPUARMState.exception). */
struct engine_exception_state {
	uint32_t syndrome, short_syndrome;
	uint64_t address;
};

/* Vectors that a block has stored are still in so many values: an instruction
 * needs up to 5 more, and the host has 16 registers. */
#define ENGINE_STORED 10

/* As many blocks wait at most to be rearranged. */
#define ENGINE_WAITING 64

struct generator;
struct made_op;
struct op_kind;
extern const struct generator generator_x86, generator_arm64, generator_arm;

/* What the engine's processors of one architecture have of their own. */
struct engine_kind {
	enum arch arch;
	uc_arch uc_arch;
	uc_mode uc_mode;
	int model;		/* of the engine's */

	/* Its names of registers, in the order of the table; below 0: a
	 * register of the system, minus its ENGINE_SYSTEM(); 0: it shows none,
	 * but keeps 8 bytes in its state, ... */
	const int *regs;
	uint64_t *(*hidden)(struct engine *engine, unsigned reg); /* ... here */

	unsigned tag_bits; /* highest ones of an address that do not count */
	bool is_narrow;		/* its own addresses have 32 bits */

	guest_addr never;	/* see engine_never() */

	/* Where it is to start, so that it runs what is at `pc`; NULL: there. */
	guest_addr (*entry)(struct engine *engine, guest_addr pc);

	/* How a system call arrives: as a hook on an instruction, or as an
	 * exception. */
	int syscall_insn;	/* 0: none */
	unsigned syscall_exception;

	/* Generates code for it: build/generate.h. */
	const struct generator *generator;

	/* Brings it to the state that a program finds it in. */
	uc_err (*start)(struct engine *engine);

	/* Finds the state and what lies where in it; NULL, or what is not
	 * there.  What the functions that replace some of the engine's know of
	 * it is the same for all engines. */
	const char *(*find)(struct engine *engine);
};
extern const struct engine_kind engine_kind_x86, engine_kind_arm64,
	engine_kind_arm, engine_kind_i386, engine_kind_arm64_machine,
	engine_kind_cortex_m;

/* An address of data without its tag: copies of the bit below it. */
static inline guest_addr engine_untag(const struct engine_kind *kind,
				      guest_addr addr)
{
	return (guest_addr)((int64_t)(addr << kind->tag_bits) >>
			    kind->tag_bits);
}

struct engine {
	uc_engine *uc;
	const struct engine_kind *kind;
	const struct engine_calls *calls;
	const struct engine_machine_calls *machine;	/* NULL: of a program */
	struct engine_ram rams[ENGINE_RAMS_MOST];	/* of a machine */
	unsigned ram_count;
	struct hole holes[ENGINE_RAMS_MOST + 1];
	void *context;
	uc_err error;		/* of the last run */
	guest_addr until;	/* the same */
	uint32_t translations;	/* bytes of its buffer for them */

	uc_context *pristine;	/* the state before anything ran */
	uc_context *scratch;	/* see build/layout.c */
	uint8_t *state;		/* the registers */
	uintptr_t env;		/* what the engine calls the state by */
	uintptr_t conditions;	/* what flags of x86 are computed from */
	uintptr_t pc;		/* and the program counter of both ARMs */
	void *cpu;		/* by which it calls what translates */
	struct engine_x86 x86;
	struct engine_arm arm;

	struct counter *counter;
	struct counter own_counter;	/* until translated code is found */
	uint64_t code_base;	/* translated code is within 2 GiB of this */
	bool may_inline, has_inlined, uncounted;
	const struct demand *demands;
	struct {		/* see build/inline_align.c */
		uint8_t *start;
		size_t used;
		bool refused;
	} checks;
	struct {		/* by return address: blocks not inlined */
		const uint8_t *ret;
		guest_addr pc;
		uint32_t size, number;
	} known[KNOWN_BLOCKS];

	bool left;		/* what was called in front of does not follow:
				   it was stopped, or PC written */
	struct {		/* see build/disguise.c */
		guest_addr pc;
		uint8_t bytes[ENGINE_DISGUISE_MOST];
		unsigned size;	/* 0: none */
		bool waits;	/* that is to be asked for */
	} disguise;
	uint64_t *hooked; /* the first and last address of engine_hook(), */
	uint64_t *covered;	/* and of the hook on blocks; NULL: unknown */
	struct {		/* see build/accesses.c */
		unsigned kinds;
		uint64_t *words;	/* the log; NULL: there is none */
		struct access_site *sites;
		uint32_t site_count, block_first; /* of the present block */
		guest_addr pc;	/* of what is being translated, */
		unsigned insns;	/* and instructions up to there */
		struct made_op *first, *made;	/* operations: of this
						   block, the newest */
		uintptr_t record;	/* a value that is where the words of
					   a piece are; 0: none is */
		uint64_t *piece, *size;	/* what code has for its second word,
					   and for the size of all of them */
		bool accessing;	/* an access is being generated */
	} logged;
	struct {		/* see build/branches.c */
		bool are_direct;	/* not so with CPREC_NO_BRANCHES */
		const struct made_op *on[2];	/* operations of this block by
						   which it goes on to others */
		unsigned count;
		uint64_t found, straight;	/* so many, ever */
		void *context;	/* by which the engine finds blocks */
		struct {	/* see build/straight.c */
			uint8_t *start, *ret;
		} waiting[ENGINE_WAITING];
		unsigned waiting_count;
	} branches;
	struct {		/* see build/direct.c */
		bool is_on;
		bool proves;	/* see build/proven.c; not so with
				   CPREC_NO_PROOFS */
		guest_addr paused;	/* not for blocks that begin there, */
		bool is_paused;		/* as the present one */
		uint64_t start;	/* of the arena */
		void *context;	/* by which code is generated */
		const struct op_kind *kinds;	/* its table of operations */
		struct {
			const struct made_op *op;
			uintptr_t addr;	/* the value that has the address */
		} accesses[ENGINE_PLACES];	/* of this block */
		unsigned count;
		uintptr_t limit;	/* the value that is 2^46; 0: none is */
	} direct;
	struct jumps jumps;
	struct {		/* see build/host_units.c */
		unsigned mxcsr;
		uint16_t control;	/* of x87 */
		bool is_entered;	/* they are not the host's now */
	} host;
	pid_t forked_by;	/* the process that has, once: see engine_keep() */
	bool keeps;		/* it may, or does: see build/kept.c; not so with
				   CPREC_NO_KEPT */
	struct kept *kept;	/* NULL: it does not */
	struct {		/* see build/vectors.c */
		bool are_inline;	/* not so with CPREC_NO_VECTORS */
		bool are_used;		/* by this block */
		uintptr_t stored[ENGINE_STORED];	/* values, the latest;
							   0: none */
		unsigned next;
		uint64_t unmatched;	/* instructions, ever */
	} vectors;
};

/*
 * The engine that this thread is in: its functions are called with arguments
 * that do not tell.  Set by whatever enters an engine.
 */
extern _Thread_local struct engine *engine_entered;

static inline uc_engine *engine_enter(struct engine *engine)
{
	engine_entered = engine;
	return engine->uc;
}

/* The engine whose translated code this thread executes; NULL: none. */
extern _Thread_local struct engine *engine_executing;

/*
 * For what is called by that code: other engines may have been entered, and
 * closed, since it began.
 */
static inline struct engine *engine_back(void)
{
	if (engine_executing)
		engine_entered = engine_executing;
	return engine_entered;
}

/* ------- engine.c ------- */

/* An engine of that kind that is not open yet. */
int engine_make(struct engine **out, const struct engine_kind *kind,
		const struct engine_calls *calls, void *context,
		struct failure *why);

/* Opens it; what its memory is comes next, ... */
uc_err engine_begin(struct engine *engine, int model);

/* ... and then its start.  On failure, closes it. */
int engine_complete(struct engine *engine, uc_err err, struct failure *why);

/* Whether the hook on blocks is for all of them, or for none. */
void engine_cover(struct engine *engine, bool all);

/* ------- build/layout*.c: engine_kind.find ------- */

const char *layout_find_x86(struct engine *engine);
const char *layout_find_arm(struct engine *engine);
const char *layout_find_arm64(struct engine *engine);

/* The same of a machine, also where it says what an exception is about. */
const char *layout_find_arm64_machine(struct engine *engine);
const char *layout_find_cortex_m(struct engine *engine);

/* Where the state is, and the monitor, of both ARMs: told when a register is
 * written that translations depend on. */
const char *layout_find_monitor(struct engine *engine, int reg,
				const void *value);

/* Runs `code`, of which an exception comes with this syndrome, and finds where
 * that is. */
const char *layout_find_exception(struct engine *engine, uint32_t code,
				  bool is_thumb, uint32_t syndrome);

/* The same of x86-64, and from then on the engine is in code of 32 bits. */
const char *layout_find_i386(struct engine *engine);

/* Finds the two addresses of a hook that was added for them; NULL: not. */
uint64_t *layout_find_range(uc_hook hook, uint64_t first, uint64_t last);

/* ------- build/calls.c: what translated code calls ------- */

/*
 * What they are called with: nothing is near it, so it is always loaded as a
 * whole number whose highest two bytes are 0 (see inline_count.c).
 */
#define HOOK_USER ((void *)UINT64_C(0x2a2a00000000))

void calls_on_block(uc_engine *uc, uint64_t pc, uint32_t size, void *user);
void calls_on_instruction(uc_engine *uc, uint64_t pc, uint32_t size,
			  void *user);

/* ------- build/flush.c ------- */

/* What the engine calls in the place of memset(). */
void *our_memset(void *bytes, int byte, size_t size);

/* ------- build/kept.c: translations of a family of processes ------- */

/* Address space of the engine's buffer for them. */
#define KEPT_SIZE (256u << 20)

/* What is under way is there already: nothing is to be translated. */
bool kept_is_found(void);

/* All translations were dropped. */
void kept_forget(struct engine *engine);
void kept_release(struct engine *engine);

/* ------- build/drop_arm.c ------- */

/* engine_drop(), of an engine whose addresses have 32 bits. */
void drop_narrow(struct engine *engine, guest_addr addr, uint64_t size);

/* ------- build/it_arm.c ------- */

/* Before the instruction whose hook returns to `ret`: true if it is in an IT
 * block, and CPSR says so from here on, until it is taken away. */
bool it_bring_back(struct engine *engine, const uint8_t *ret);
void it_take_away(struct engine *engine);

/* ------- build/pages_arm.c ------- */

/* The same of calloc(). */
void *our_calloc(size_t count, size_t size);

/* ------- build/ordered_arm64.c ------- */

/* How the instruction that is being translated accesses memory. */
unsigned ordered_access(unsigned access);

/* ------- build/aligned_arm.c ------- */

/* The same of 32-bit ARM. */
unsigned aligned_access(unsigned access);

/* Whether the access that is generated is the first of two, and the register
 * that it loads is one of those that the address is of. */
bool access_takes_base(void);

/* ------- build/access_arm.c ------- */

/* A store of a byte begins, from there in translated code. */
void access_note(uintptr_t from);

/* ------- build/jumps.c ------- */

/* A table without answers. */
void jumps_begin(struct jumps *jumps);

/* Translations were dropped. */
void jumps_forget(struct jumps *jumps);

/* What is at that address of the guest is better entered at `to`. */
void jumps_move(struct jumps *jumps, uint64_t pc, const void *from,
		const void *to);

/* ------- build/accesses.c ------- */

/* The log is at a multiple of 32 MB, and full when its place has one of these
 * bits: from 256 KB on. */
#define LOG_FULL_BITS 0x01fc0000u

/* A block is about to be translated; was. */
void accesses_begin_block(struct engine *engine);
void accesses_end_block(struct engine *engine);

/* All translations were dropped. */
void accesses_forget_sites(struct engine *engine);
void accesses_release(struct engine *engine);

/* ------- build/direct.c ------- */

/* A block that begins there is about to be translated. */
void direct_begin_block(struct engine *engine, guest_addr pc);

/* No value may be known behind what is generated. */
void direct_forget(struct engine *engine, void *context);

/* ------- build/lanes.c ------- */

/* A block is about to be translated. */
void lanes_begin_block(struct engine *engine);

/* ------- build/host_units.c ------- */

/*
 * Translated code begins, or goes on: the host's MXCSR becomes the guest's, of
 * x86, or what every program begins with, and so does the control word of x87.
 * It ends, or calls others, who may compute: what was raised is in the guest's
 * state, and what the host had set is set again.
 */
void float_enter(struct engine *engine);
void float_leave(struct engine *engine);

/* MXCSR was written. */
void float_mode_is_new(const uint8_t *state);

/* ------- build/inline_count.c ------- */

/* What stands before the call that returns to `ret`. */
enum inlined { INLINED_NOT, INLINED_COUNT, INLINED_REP, INLINED_PLAIN };
enum inlined inline_state(const uint8_t *ret);

/* The block number that was written with an inlined REP block. */
uint32_t inline_rep_number(const uint8_t *ret);

/*
 * Brings the counter to where translated code reaches it, before any refers to
 * it; `code` is near where that will be.
 */
void inline_begin(struct engine *engine, const void *code);

/*
 * Replaces the call of the block hook that returns to `ret`, if it has the
 * form that is known.
 */
void inline_count(struct engine *engine, uint8_t *ret, uint32_t number,
		  const struct engine_block *block);

/*
 * Where the arguments begin of the call of a hook that returns to `ret`; NULL
 * if it has another form.
 */
uint8_t *inline_arguments(const struct engine *engine, uint8_t *ret,
			  guest_addr pc, uint32_t size);

/* Behind the engine's question whether it was told to stop. */
uint8_t *inline_body(uint8_t *ret);

/* ------- build/inline_align.c ------- */

/*
 * Writes at `start`, before the call that returns to `ret`, what counts and
 * checks the block, and goes on at `body`; false if that cannot be.
 */
bool inline_check(struct engine *engine, uint8_t *start, const uint8_t *ret,
		  const uint8_t *body, uint32_t number,
		  const struct engine_block *block);

/* The same of a repeated instruction that logs. */
bool inline_logging_rep(struct engine *engine, uint8_t *start,
			const uint8_t *ret, uint32_t number);
void inline_release(struct engine *engine);

#endif
