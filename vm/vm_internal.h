/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm_internal.h - the parts of the virtual processor, for each other
 *
 * Time is counted by a budget that every block lowers by its number of
 * instructions when it is entered; below zero, the guest stops before the
 * block.  The engine calls on_block() at each entry; once a block is known,
 * the call in its translation is replaced by the subtraction itself
 * (inline_count.c), so that counting costs two instructions a block.
 */
#ifndef CPREC_VM_VM_INTERNAL_H
#define CPREC_VM_VM_INTERNAL_H

#include <capstone/capstone.h>
#include <unicorn/unicorn.h>

#include "formats/number_map.h"
#include "vm/memory/memory_internal.h"
#include "vm/vm.h"

/* Nothing is ever mapped here: the engine runs "until" it. */
#define NEVER UINT64_C(0x7ffffffffff000)

/* What a signal handler takes off the budget to stop the guest. */
#define ASKED_PENALTY (INT64_C(1) << 62)
#define BUDGET_MOST (UINT64_C(1) << 60)

/* One translation of a block of guest code. */
struct block {
	guest_addr pc;
	uint32_t size;		/* bytes */
	uint16_t count;		/* instructions */
	uint16_t special;	/* index of the first that must not run in the
				   engine, or NO_SPECIAL */
	bool starts_rep;	/* is a REP instruction alone */
	bool ends_rep;		/* its last instruction is one */
	bool ends_block;	/* control does not just run on behind it */
	bool pauses;		/* its last instruction is PAUSE */
	uint8_t demands;	/* on registers, for alignment */
	uint32_t first_demand;	/* in vm->demands */
	uint16_t last_size;	/* bytes of the last instruction */
	bool hooked;		/* an instruction may want on_float() */
};
#define NO_SPECIAL UINT16_MAX

/*
 * Base + (index << shift) + offset is to be a multiple of 16 when the block is
 * entered: the operand of one of its instructions is there.
 */
struct demand {
	uint16_t insn;		/* its index in the block */
	int8_t base, index;	/* numbers of the encoding, or OPERAND_NONE */
	uint8_t shift, offset;
};
#define DEMANDS_OF_BLOCK 6u
#define DEMANDS_MOST (1u << 20)

#define KNOWN_BLOCKS 65536

/*
 * The engine does not survive its buffer for translations running full, so
 * they all go before: a translation takes some 1300 bytes.
 */
#define TRANSLATIONS_MOST (512u << 20)
#define BLOCKS_MOST 250000

/* Shared with translated code: lies within its reach. */
struct counter {
	int64_t budget;
	uint32_t current;	/* number of the block under way; 0: none */
	volatile int32_t asked;	/* vm_stop_soon() was called */
};

enum engine_stop {
	ENGINE_NONE,
	ENGINE_AT_BLOCK,	/* before a block for which there is no budget */
	ENGINE_SPECIAL,		/* before a block with a special instruction */
	ENGINE_MISALIGNED,	/* before one with a demand that is not met */
	/* Before an instruction: */
	ENGINE_PROTECTED,	/* whose operand is not aligned */
	ENGINE_UNMASKED,	/* that unmasks an exception */
	ENGINE_FLOAT_SSE,	/* that raises one */
	ENGINE_FLOAT_X87,	/* that finds one raised before */
	ENGINE_FLOAT_RAISED,	/* of x87, that raises one: for the next */
	ENGINE_SYSCALL,
	ENGINE_INTERRUPT,
	ENGINE_INVALID,
};

struct vm_thread {
	uc_context *context;	/* of the present thread: only room */
	uint32_t current;	/* block under way: counter.current */
	uint64_t flushes;	/* vm->flushes when it was noted */
	unsigned view;		/* see views.h */
};

/* See tlb.c. */
struct tlb {
	unsigned room;		/* entries it is thought to have */
	unsigned misses;	/* since it was flushed */
	uint64_t total;		/* misses since the start */
};

/* IE, ZE, OE, UE, PE, in a unit as in MXCSR and in the status word of x87. */
#define FLOAT_UNIT_FLAGS 0x3du

/* A floating-point unit of the engine: bytes of its own; see layout.c. */
struct float_unit {
	uint8_t *raised;	/* flags of exceptions */
	uint8_t *flush;		/* whether it flushes to zero */
};

struct vm {
	uc_engine *uc;
	struct memory *memory;
	const struct reg_table *regs;
	uc_context *pristine;	/* the engine's state before anything ran */
	uc_context *scratch;	/* see layout.c */
	uint8_t *state;		/* the engine's registers */
	uint8_t *mxcsr;		/* in it */
	struct float_unit sse, x87;
	csh decoder;
	cs_insn *insn;

	struct vm_thread first;
	struct vm_thread *thread;	/* the present one */
	unsigned views;		/* given to threads, but for the first's */

	struct counter *counter;
	uint64_t code_base;	/* translated code is within 2 GiB of this */
	struct counter own_counter;	/* until translated code is found */
	bool may_inline;
	bool emulated;		/* an instruction; the guest goes on */
	bool partial;		/* running a part of a block */

	struct block *blocks;	/* by number; 0 is no block */
	uint32_t block_count, block_room;
	uint64_t flushes;	/* of all translations */
	struct demand *demands;	/* of all blocks; NULL before the first */
	uint32_t demand_count;
	struct {		/* see inline_align.c */
		uint8_t *start;
		size_t used;
		bool refused;
	} checks;
	struct {		/* by return address: blocks not inlined */
		const uint8_t *ret;
		uint32_t number;
	} known[KNOWN_BLOCKS];

	uint64_t steps;		/* retired before this run */
	int64_t granted;	/* budget at the start of this run */
	bool uncounted;		/* vm_run_uncounted() */
	bool running;

	enum engine_stop stopped;
	uint32_t stop_block;	/* ENGINE_AT_BLOCK, ENGINE_SPECIAL */
	unsigned interrupt;

	/* The engine's last miss that was not answered. */
	guest_addr fault_page;
	enum vm_access fault_access;
	bool faulted, fault_mapped;

	volatile bool wanted;	/* vm_interrupt() was called */
	unsigned pauses;	/* since the run began */
	unsigned pauses_most;	/* vm_limit_pauses() */
	struct number_map code_pages;	/* of the arena; see code_pages.c */
	bool code_changed;	/* the guest stops for that only */
	bool code_doubted;	/* it has faulted for that only: */
	uint64_t doubted_page;	/* of the arena */

	vm_trace_fn *trace;
	void *trace_context;
	unsigned traced;	/* instructions of the present block */

	vm_watch_fn *watch;
	void *watch_context;
	struct watch_cache *seen;	/* see watch.c */
	struct flow_cache *flows;	/* see flow.c */

	struct tlb tlb;
	uint64_t *hooked;	/* the first and last address with a hook on
				   instructions; NULL: there is none */
	uint64_t translated;	/* blocks, by the engine */
	bool traps;		/* some exception was unmasked, once */
	bool probing;		/* any mapped page counts as code */
	uint64_t generation;	/* of memory, that the TLB has seen */
};

/* ------- clock.c ------- */

/* Lets the guest stop before the next block. */
void vm_stop_soon(struct vm *vm);

/* ------- code_pages.c ------- */

/* A block was translated: writes to its pages are to be noticed. */
void code_pages_watch(struct vm *vm, guest_addr pc, uint32_t size);
bool code_page_is_watched(const struct vm *vm, uint64_t page);

/* The guest is about to write to a page that is watched. */
void code_page_written(struct vm *vm, const struct mapping *map,
		       guest_addr addr);

/* ------- tlb.c ------- */

void tlb_start(struct vm *vm);
void tlb_flush(struct vm *vm);

/* A page that is there was asked for; may flush. */
void tlb_missed(struct vm *vm);

/* ------- jumps.c ------- */

/*
 * Finds where the engine keeps what jumps depend on; behind vm->scratch.
 * Whether it could.
 */
bool jumps_find(struct vm *vm);

/* Translations were dropped. */
void jumps_forget(void);

/* How often the engine had to be asked, in this process. */
uint64_t jumps_missed(void);

/* ------- hooks.c ------- */

uc_err hooks_add(struct vm *vm);

/* Says which guest runs, and that one is no more. */
void hooks_run(struct vm *vm);
void hooks_forget(const struct vm *vm);

/* Drops what was translated before a hook was there. */
void hooks_forget_code(struct vm *vm);

/* ------- watch.c ------- */

/* Tells of an operand that the host writes, or reads if `bytes` is NULL. */
void watch_operand(struct vm *vm, guest_addr addr, const uint8_t *bytes,
		   unsigned size);

/* ------- blocks.c: decoding ------- */

/*
 * Decodes the block into vm->blocks and returns its number; 0 when out of
 * memory.
 */
uint32_t block_decode(struct vm *vm, guest_addr pc, uint32_t size);

/*
 * The length of the instruction at `code`.  0 if the decoder does not know it,
 * or it is cut off: the engine translates it all the same, or refuses it.
 */
size_t block_length(struct vm *vm, const uint8_t *code, size_t left,
		    guest_addr pc);

/* Whether the engine ends a block behind the instruction. */
bool block_ends(const uint8_t *code, const uint8_t *end);

/* Index of the instruction at `pc` in a block; its count if none is. */
unsigned block_index_of(struct vm *vm, const struct block *block,
			guest_addr pc);

/* Address of instruction `index` of a block. */
guest_addr block_address_of(struct vm *vm, const struct block *block,
			    unsigned index);

/* Calls `see` for each instruction, with where its prefixes end. */
typedef void block_see_fn(void *context, guest_addr pc, const uint8_t *code,
			  const uint8_t *opcode, const uint8_t *end);
void block_see(struct vm *vm, const struct block *block, block_see_fn *see,
	       void *context);

/*
 * The bytes of the instruction at `pc`, at most X86_INSN_MOST, into `code`;
 * how many.  `*opcode` gets the place behind prefixes.
 */
size_t block_code(struct vm *vm, guest_addr pc, uint8_t *code,
		  const uint8_t **opcode);

/*
 * Says what is special about the instruction at `pc`; false if it is only
 * that the engine must not execute it.
 */
bool block_explain(struct vm *vm, guest_addr pc, struct vm_stop *stop);

/* ------- operands.c ------- */

/*
 * Decodes the instruction at `code`, which is that of `pc`, into vm->insn; its
 * length, 0 if the disassembler does not know it.
 */
size_t block_decode_insn(struct vm *vm, const uint8_t *code, size_t left,
			 guest_addr pc);

/*
 * The address of the memory operand of the instruction at `pc`, and its size;
 * false if it has none.
 */
bool block_operand(struct vm *vm, guest_addr pc, guest_addr *addr,
		   unsigned *size, unsigned *length);

/* The address on the faulting page that the instruction at `pc` wanted. */
guest_addr block_fault_address(struct vm *vm, guest_addr pc,
			       guest_addr page);

/* Whether it wanted that by RSP or RBP, of the stack's segment. */
bool block_fault_is_of_stack(struct vm *vm, guest_addr pc, guest_addr page);

/* ------- inline_count.c ------- */

/* What stands before the call that returns to `ret`. */
enum inlined { INLINED_NOT, INLINED_COUNT, INLINED_REP, INLINED_PLAIN };
enum inlined inline_state(const uint8_t *ret);

/* The block number that was written with an inlined REP block. */
uint32_t inline_rep_number(const uint8_t *ret);

/*
 * Replaces the call of on_block() that returns to `ret`, if it has the form
 * that is known.  A block with a special instruction must not come here.
 */
void inline_count(struct vm *vm, uint8_t *ret, uint32_t number,
		  const void *user);

/*
 * Where the arguments begin of the call of a hook that returns to `ret`; NULL
 * if it has another form.
 */
uint8_t *inline_arguments(const struct vm *vm, uint8_t *ret, guest_addr pc,
			  uint32_t size, const void *user);

/* Behind the engine's question whether it was told to stop. */
uint8_t *inline_body(uint8_t *ret);

/* ------- x86.c: registers and values ------- */

/*
 * Performs the instruction at stop->pc, which the engine executes with wrong
 * flags: CMPXCHG8B, CMPXCHG16B, LOCK NEG.  Returns false, with `*stop` filled
 * in, if it faults.
 */
bool x86_emulate(struct vm *vm, struct vm_stop *stop);

/*
 * Flags that a program may change: CF, PF, AF, ZF, SF, DF, OF, AC, ID.  TF would
 * trap inside the engine: a guest that sets it is not stepped.
 */
#define X86_FLAGS_OWN UINT64_C(0x240cd5)

/*
 * Selectors, with the privilege level of programs in their low bits.  Source:
 * Linux, arch/x86/include/asm/segment.h.
 */
enum { X86_USER32_CS = 0x23, X86_USER_DS = 0x2b, X86_USER_CS = 0x33 };

/* Says that the instruction is a general-protection fault; false. */
bool x86_refuse(struct vm_stop *stop);

/* POPF, and MOV from or to a selector, as x86_emulate(): by its opcode. */
bool x86_system_knows(uint8_t opcode);
bool x86_system(struct vm *vm, const uint8_t *code, const uint8_t *opcode,
		size_t left, struct vm_stop *stop);

/*
 * Whether an access to this operand faults; then `*stop` says so, and where.
 */
bool x86_operand_faults(struct vm *vm, guest_addr addr, unsigned size,
			enum vm_access access, struct vm_stop *stop);

/*
 * Executes the instruction at stop->pc on the host's processor, without
 * retiring it; false if the host cannot.
 */
bool x86_on_host(struct vm *vm, const struct vm_stop *stop);

/* Clears flags that would stop the engine. */
void x86_mend_flags(struct vm *vm);

int x86_start(struct vm *vm, struct failure *why);

/*
 * Forgets that an exception was raised: the engine waits for its delivery and
 * takes the next one for a double fault.
 */
void x86_exception_taken(struct vm *vm);

/* ------- layout.c, mxcsr.c ------- */

/*
 * Finds vm->state and what it holds, and what the functions that replace some of
 * the engine's must know of it; at the start, behind vm->pristine.
 */
int x86_find_state(struct vm *vm, struct failure *why);

/*
 * Where a saved context first differs from vm->pristine if a register has this
 * value; 0 if nowhere.  That context is then in vm->scratch.
 */
size_t x86_changed_by(struct vm *vm, uc_x86_reg reg, uint64_t value);

/* The registers with the flags of exceptions as the processor has them. */
uint32_t x86_mxcsr(struct vm *vm);
void x86_set_mxcsr(struct vm *vm, uint32_t value);
uint16_t x86_status(struct vm *vm);
void x86_set_status(struct vm *vm, uint16_t value);

/* Brings the engine's registers to that: MXCSR, or both. */
void x86_show_sse(struct vm *vm);
void x86_show_flags(struct vm *vm);

/* ------- operand.c: memory operands, quickly ------- */

/* An address, as an instruction names it. */
struct operand_form {
	int8_t base, index;	/* numbers of the encoding, or one of these */
	uint8_t shift;		/* of the index */
	uint8_t segment;	/* X86_FS_BASE, X86_GS_BASE or 0 */
	int32_t displacement;
};
enum { OPERAND_NONE = -1, OPERAND_NEXT = 16 };	/* nothing; RIP */

/*
 * The memory operand of the instruction whose opcode, behind all prefixes, is
 * at `opcode`; false if it has none, or one of 32-bit addresses.
 */
bool operand_decode(const uint8_t *code, const uint8_t *opcode,
		    const uint8_t *end, struct operand_form *out);

/* Where it is now; `next` is the address behind the instruction. */
guest_addr operand_at(struct vm *vm, const struct operand_form *form,
		      guest_addr next);

/* ------- trap.c: exceptions that are unmasked ------- */

bool trap_unmasks(uint32_t mxcsr, uint16_t control);

/* Whether one of x87 is to be told of. */
bool trap_is_pending(struct vm *vm);

/*
 * Whether the instruction would raise one that is unmasked; if it is of SSE,
 * its flag is then set.
 */
bool trap_sse(struct vm *vm, guest_addr pc, const uint8_t *code,
	      const uint8_t *opcode, const uint8_t *end);
bool trap_x87(struct vm *vm, guest_addr pc, const uint8_t *code,
	      const uint8_t *opcode, const uint8_t *end);

/*
 * Retires the instruction of x87 at stop->pc, which raises one; false, with
 * `*stop` filled in, if it faults.
 */
bool trap_perform_x87(struct vm *vm, struct vm_stop *stop);

/* ------- inline_align.c ------- */

/*
 * Writes at `start`, before the call that returns to `ret`, what counts and
 * checks the block, and goes on at `body`; false if that cannot be.
 */
bool inline_check(struct vm *vm, uint8_t *start, const uint8_t *ret,
		  const uint8_t *body, uint32_t number);
void inline_release(struct vm *vm);

/*
 * The call of on_float() that returns to `ret`, for the instruction at `pc`,
 * is left out from now on while `operand` is aligned; always, if it is NULL.
 */
void inline_hook(struct vm *vm, uint8_t *ret, guest_addr pc, uint32_t size,
		 const struct demand *operand);

#endif
