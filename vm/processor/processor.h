/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processor.h - the virtual processor: counts, cuts and stops exactly
 *
 * It drives the engine over blocks of guest code: settles where they end
 * before they are translated (plan.c), counts what they execute (clock.c),
 * answers the engine's calls (entry.c, pages.c) and finds out what it means
 * that the engine stopped (run.c, stops.c).  What an instruction is, it asks
 * the architecture (vm/arch/arch.h); it names no register, and calls the engine
 * by vm/engine/engine.h only.
 *
 * Units:      steps are retired instructions.
 * Ownership:  part of a `struct vm`.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY.
 * Threads:    none.
 */
#ifndef CPREC_VM_PROCESSOR_PROCESSOR_H
#define CPREC_VM_PROCESSOR_PROCESSOR_H

#include "formats/number_map.h"
#include "vm/arch/arch.h"
#include "vm/engine/engine.h"
#include "vm/memory/memory_internal.h"
#include "vm/vm.h"

#define BUDGET_MOST (UINT64_C(1) << 60)

/* One translation of a block of guest code. */
struct block {
	struct engine_block inlined;	/* address, size, instructions, ... */
	uint16_t special;	/* index of the first that must not run in the
				   engine, or NO_SPECIAL */
	bool ends_rep;		/* its last instruction is repeated */
	bool ends_block;	/* control does not just run on behind it */
	bool pauses;		/* its last instruction is PAUSE */
	bool breaks;		/* its first instruction has a breakpoint */
	bool hooked;		/* an instruction may want arch->before() */
	bool observed;		/* somebody observes an instruction */
	bool told;		/* its part says: whenever it is come to */
	uint8_t last_size;	/* bytes of the last instruction */
	uint32_t first_size;	/* in vm->sizes: bytes of each instruction */
};
#define NO_SPECIAL UINT16_MAX

#define DEMANDS_MOST (1u << 20)

enum engine_stop {
	STOPPED_NOT,
	STOPPED_AT_BLOCK,   /* before a block for which there is no budget */
	STOPPED_AT_SPECIAL, /* before a block with a special instruction */
	STOPPED_MISALIGNED, /* before one with a demand that is not met */
	STOPPED_AT_BREAK,   /* before one with a breakpoint */
	STOPPED_REPEATING,  /* before another iteration of a repeated string
			       instruction, which a program steps */
	/* Before an instruction: */
	STOPPED_BY_FAULT,   /* vm->before says which */
	STOPPED_TO_REPLAN,  /* that wants all code to be planned anew */
	STOPPED_TO_PERFORM, /* that the architecture must perform */
	STOPPED_TO_ASK,	    /* that must ask the TLB: see direct.c */
	STOPPED_BY_SYSCALL,
	STOPPED_BY_EXCEPTION,
	STOPPED_BY_INVALID,
};

struct vm_thread {
	struct engine_context *context;	/* of the present thread: only room */
	uint32_t current;	/* block under way: counter.current */
	uint64_t flushes;	/* vm->flushes when it was noted */
	unsigned view;		/* see vm/memory/views.h */
	struct cpu_own own;	/* cpu.own, of one that is not present */
};

/* See tlb.c. */
struct tlb {
	unsigned room;		/* entries it is thought to have */
	unsigned misses;	/* since it was flushed */
	uint64_t total;		/* misses since the start */
};

/* Sizes of tables of what was found out: a choice. */
#define KNOWN_ORDERS 65536
#define KNOWN_FLOWS 16384
#define KNOWN_LEADS 4096

/* Of which instruction something is known.  Generation 0: of none. */
struct insn_key {
	guest_addr pc;
	uint64_t generation;
};

struct known_order {
	struct insn_key key;
	enum vm_order order;
};

struct known_flow {
	struct insn_key key;
	struct vm_flow flow;
};

struct known_lead {
	struct insn_key key;
	struct vm_lead lead;
};

/* There is one observed range for all data that is near enough. */
#define LOG_RANGES 4u

struct vm {
	struct cpu cpu;		/* what the architecture sees */
	struct engine *engine;	/* the same as in it, for short */
	struct memory *memory;
	struct vm_thread first;
	struct vm_thread *thread;	/* the present one */
	unsigned views;		/* given to threads, but for the first's */

	/* blocks.c */
	struct block *blocks;	/* by number; 0 is no block */
	uint32_t block_count, block_room;
	uint64_t flushes;	/* of all translations */
	uint8_t *sizes;		/* of the instructions of all blocks */
	uint32_t size_count, size_room;
	struct demand *demands;	/* of all blocks; NULL before the first */
	uint32_t demand_count;
	uint64_t planned;	/* blocks, for the engine to translate */
	bool plans_apart;	/* something has asked for other blocks */

	/* clock.c */
	uint64_t steps;		/* retired before this run */
	int64_t granted;	/* budget at the start of this run */
	int64_t held;		/* of it, until what was logged is told */
	bool uncounted;		/* vm_run_uncounted() */
	bool running;
	volatile bool wanted;	/* vm_interrupt() was called */
	unsigned pauses;	/* since the run began */
	unsigned pauses_most;	/* vm_limit_pauses() */

	/* Why the engine stopped. */
	enum engine_stop stopped;
	uint32_t stop_block;	/* STOPPED_AT_BLOCK, STOPPED_AT_SPECIAL */
	struct vm_stop before;	/* STOPPED_BY_FAULT */
	unsigned exception;	/* STOPPED_BY_EXCEPTION */
	bool emulated;		/* an instruction; the guest goes on */
	bool partial;		/* running a part of a block */
	bool asking;		/* running an instruction that asks the TLB */
	unsigned asked;		/* how many did, though nothing was wrong */

	/* The engine's last miss that was not answered. */
	guest_addr fault_page;
	enum vm_access fault_access;
	bool faulted, fault_mapped;

	/* pages.c, translations.c */
	struct tlb tlb;
	bool code_changed;	/* or is too much: the guest stops for that */
	bool code_doubted;	/* it has faulted for that only: */
	uint64_t doubted_page;	/* of the arena */
	bool probing;		/* any mapped page counts as code */
	uint64_t generation;	/* of memory, that the TLB has seen, */
	uint64_t code_generation; /* and without changes of data alone */

	/* breaks.c */
	struct number_map breaks;	/* by address */
	guest_addr passed;	/* one that the guest need not stop at */

	/* observers.c */
	const struct vm_observer **observers;
	size_t observer_count, observer_room;
	struct vm_range observed;	/* code that somebody observes is there */
	const struct vm_observer *parted;	/* who has parts; NULL: nobody */
	bool replans;		/* some code is to be planned anew */
	struct vm_range replanned;	/* the last such code; or none */
	guest_addr came_from;	/* without a block under way: what was executed
				   last; 0: not known */
	struct vm_range logged[LOG_RANGES];	/* data, rising, that is told */
	unsigned logged_count, logged_kinds;
	uint64_t logged_generation;	/* of memory, that it was settled for */
	bool has_aliases;	/* some memory is mapped twice */
	struct place {		/* in a block, of an instruction */
		uint32_t block;
		unsigned index;
		guest_addr pc;
	} at;			/* the one that was told last */

	/* Direct mapped; to find out again is slow, no more. */
	struct known_order known_orders[KNOWN_ORDERS];
	struct known_flow known_flows[KNOWN_FLOWS];
	struct known_lead known_leads[KNOWN_LEADS];
};

/* What the engine calls. */
extern const struct engine_calls processor_calls;

/* No block is under way any more. */
static inline void leave_block(struct vm *vm, guest_addr last)
{
	engine_counter(vm->engine)->current = 0;
	vm->came_from = last;
}

/* ------- clock.c ------- */

/* Lets the guest stop before the next block. */
void vm_stop_soon(struct vm *vm);

/* A run begins, with this budget ... */
void clock_grant(struct vm *vm, uint64_t budget);

/* Its budget is used up: gives it more of what was held back. */
void clock_refill(struct vm *vm);

/* ... and has ended: what it has used of the budget is added to the steps. */
void clock_settle(struct vm *vm);

/* ------- blocks.c: decoding ------- */

/*
 * Decodes the block into vm->blocks and returns its number; 0 when out of
 * memory.
 */
uint32_t block_decode(struct vm *vm, guest_addr pc, uint32_t size);

/* Index of the instruction at `pc` in a block; its count if none is. */
unsigned block_index_of(const struct vm *vm, const struct block *block,
			guest_addr pc);

/* Address of instruction `index` of a block. */
guest_addr block_address_of(const struct vm *vm, const struct block *block,
			    unsigned index);

/*
 * The guest stands before the block: the index of the first instruction whose
 * operand will not be aligned; NO_SPECIAL if all will.
 */
unsigned block_violation(struct vm *vm, const struct block *block);

void blocks_forget(struct vm *vm);
void blocks_release(struct vm *vm);

/* ------- plan.c ------- */

/* How many instructions the block at `pc` is to have. */
unsigned plan_block(struct vm *vm, guest_addr pc, unsigned most);

/* See engine_calls.common: whether nothing but its bytes tells. */
const uint8_t *plan_common(struct vm *vm, guest_addr pc, size_t *left);

/* See engine_calls.disguise. */
void plan_disguise(struct vm *vm, guest_addr pc);

/* ------- pages.c ------- */

bool pages_miss(void *context, guest_addr addr, enum vm_access access,
		struct engine_page *out);

/* A block was translated: writes to its pages are to be noticed. */
void code_pages_watch(struct vm *vm, guest_addr pc, uint32_t size);
bool code_page_is_watched(const struct vm *vm, uint64_t page);

/* ------- direct.c ------- */

/* Whether programs are to access memory directly. */
bool direct_is_wanted(void);

/* For a memory in which nothing is mapped yet. */
int direct_begin(struct vm *vm, struct failure *why);

/* The guest's engine is new. */
void direct_engine(struct vm *vm);

/* Before the guest runs: its memory is not more open than it should be. */
void direct_settle(struct vm *vm);

/* ------- breaks.c ------- */

static inline bool break_is_at(const struct vm *vm, guest_addr pc)
{
	return vm->breaks.count && number_map_find(&vm->breaks, pc);
}

/* ------- observers.c ------- */

/*
 * Whether somebody observes an instruction among these bytes, or behind them.
 */
bool observers_want(const struct vm *vm, guest_addr pc, uint64_t size);

/* What the observer with parts says of an instruction; 0: nothing. */
static inline unsigned part_at(const struct vm *vm, guest_addr pc)
{
	return vm->parted ? vm->parted->part(vm->parted->context, pc) : 0;
}

/*
 * The guest comes to a block: tells of it, if it is of another part.  False if
 * it must be planned anew before it is executed.
 */
bool observe_arrival(struct vm *vm, const struct block *block);

/* Steps before an instruction of the block under way. */
uint64_t steps_before(struct vm *vm, guest_addr pc);

/* Tells of an instruction that the engine does not get to see. */
void observe_alone(struct vm *vm, uint64_t steps, guest_addr pc);

/* Tells of an instruction to those who observe a range. */
void observe_instruction(struct vm *vm, uint64_t steps, guest_addr pc);

/* ------- accesses.c ------- */

/* Observers have come or gone: has accesses logged as they want it. */
int accesses_arrange(struct vm *vm, struct failure *why);

/* A run begins. */
void accesses_begin(struct vm *vm);

/* Tells what was logged. */
void accesses_tell(struct vm *vm);

/* A repeated instruction begins, or an iteration of it. */
void accesses_iterate(struct vm *vm);

/*
 * The instruction at `pc` of the block under way has not retired, or is
 * executed again: what it has logged is forgotten.
 */
void accesses_take_back(struct vm *vm, guest_addr pc);

/* ------- stops.c ------- */

/*
 * The guest stopped before the instruction at `pc`: takes back what the block
 * under way has been counted for from there on.
 */
void stop_in_block(struct vm *vm, guest_addr pc);

/* An instruction has trapped, of a program that steps itself. */
struct vm_stop step_trap(struct vm *vm);

/* Fills in what vm->stopped means. */
void stop_explain(struct vm *vm, struct vm_stop *stop);

/* ------- tlb.c ------- */

void tlb_start(struct vm *vm);
void tlb_flush(struct vm *vm, bool code_stays);

/* A page that is there was asked for; may flush. */
void tlb_missed(struct vm *vm);

/* ------- translations.c ------- */

/* Brings the engine up to date with what the host did to guest memory. */
void translations_refresh(struct vm *vm);

/* Forgets all translations, but for what is known of the block under way. */
void translations_flush(struct vm *vm);

#endif
