/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - the translator that executes guest code
 *
 * The room around the Unicorn Engine, and the only one that includes its
 * header.  It opens an engine over the arena, runs it, and passes on what the
 * engine calls: translating a block, entering one, a page that its TLB does
 * not have, an exception.  What such a call means is for whoever opened the
 * engine to decide.  It never knows a guest's kernel, a step or a mapping.
 *
 * What depends on the one build of the engine that cprec is linked with, its
 * layouts, its functions that are replaced and the code that it generates, is
 * in vm/engine/build/.
 *
 * Time is counted by a budget that every block lowers by its number of
 * instructions when it is entered; below zero, the guest stops before the
 * block.  The engine calls `enter` at each entry; once a block is known, the
 * call in its translation is replaced by the subtraction itself
 * (build/inline_count.c), so that counting costs two instructions a block.
 *
 * Units:      addresses are guest virtual, `paddr` is an offset in the arena;
 *             sizes are bytes.
 * Ownership:  the caller ends an engine with engine_close(), and its contexts
 *             before.
 * Errors:     ERR_SYSTEM (the engine's words are in `why`), ERR_NO_MEMORY.
 * Threads:    one uses an engine at a time; several engines may run, each on a
 *             thread of its own.  engine_counter() may be used by a signal
 *             handler of the thread that runs it.
 */
#ifndef CPREC_VM_ENGINE_ENGINE_H
#define CPREC_VM_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "formats/registers.h"
#include "vm/memory/memory.h"

struct engine;
struct engine_context;
struct failure;

/* No guest has this address. */
#define ENGINE_NEVER UINT64_C(0x7ffffffffff000)

/* An instruction that accesses data, as its translation knows it. */
struct access_site {
	guest_addr pc;
	uint32_t reserved;
	uint16_t left;		/* instructions of its block, with this one */
	uint8_t size;		/* bytes that are accessed, at most 8 */
	bool writes;
};

/*
 * Translated code logs words.  What is executed in one piece writes
 *
 *	the budget when its block was under way
 *	how many accesses it has, and the number of its first site
 *	of each, the address, and if values are logged
 *		the value: its lower bytes, as many as are accessed
 *
 * of all of which `next` is told when it begins.  A function that accesses data
 * for an instruction writes its site instead of a number.
 */
struct access_log {
	uint64_t *next;
	uint64_t *mark;		/* engine_log_mark() */
	uint64_t caller;	/* site of who has called a function */
};

/* Shared with translated code: lies within its reach. */
struct counter {
	int64_t budget;
	uint32_t current;	/* number of the block under way; 0: none */
	volatile int32_t asked;	/* the guest is to stop before the next block */
	uint32_t part;		/* of the code that was entered last; 0: none */
	uint32_t crossing;	/* block that is of another one; 0: none */
	struct access_log log;
};

/* What a signal handler takes off the budget to stop the guest. */
#define ASKED_PENALTY (INT64_C(1) << 62)

/* A budget, whether the guest was asked to stop or not. */
static inline int64_t budget_left(int64_t budget)
{
	return budget < -(ASKED_PENALTY / 2) ? budget + ASKED_PENALTY : budget;
}

/*
 * A general register and another one shifted, plus an offset, is to be a
 * multiple of 16 when a block is entered.  Registers have the numbers of their
 * encoding.
 */
struct demand {
	uint16_t insn; /* whose operand that is: its index in the block */
	int8_t base, index;	/* DEMAND_NONE: no register */
	uint8_t shift, offset;
};
#define DEMAND_NONE (-1)
#define DEMANDS_OF_BLOCK 6u

/* What inlined code must know to count and check a block at its entry. */
struct engine_block {
	guest_addr pc;
	uint32_t size;
	uint16_t count;		/* instructions */
	bool starts_rep; /* is a repeated instruction alone: entered anew for
				   each iteration, it counts once */
	uint8_t demands;
	uint8_t part;		/* of the code; 0: whatever it comes from */
	uint32_t first_demand;	/* in the array of demands */
};

/* How a block was entered. */
enum engine_entry {
	ENTRY_CALLED,	 /* its translation always calls */
	ENTRY_COUNTED,	 /* it has paid itself, and found too little left */
	ENTRY_REPEATED,	 /* not behind its own last iteration */
	ENTRY_CROSSING,	 /* from code of another part; it has not paid */
	ENTRY_UNCOUNTED, /* it was asked to stop, or a demand is not met */
};

/* A call of `instruction`, for engine_leave_out(). */
struct engine_call {
	guest_addr pc;
	uint32_t size;
	uint8_t *ret;		/* where it returns to */
	bool stays;		/* not to be left out: set by who is called */
};

struct engine_page {
	uint64_t paddr;
	unsigned prot;		/* MAY_READ and so on */
};

/*
 * What happens while the engine runs.  A call that is to end the run calls
 * engine_stop(); the block that `enter` was called for, or the instruction
 * that `instruction` was called for, is then not executed.
 */
struct engine_calls {
	/* A block is about to be translated: returns how many instructions it
	 * is to have. */
	unsigned (*translate)(void *context, guest_addr pc, unsigned most);

	/*
	 * A block is about to be translated of which another process of the
	 * family may have the translation: the code at `pc`, with as many bytes
	 * as are `left` on its page.  NULL if it is to be translated in a way of
	 * its own.
	 */
	const uint8_t *(*common)(void *context, guest_addr pc, size_t *left);

	/* An instruction is about to be looked at that was not all there for
	 * engine_disguise(): now it is. */
	void (*disguise)(void *context, guest_addr pc);

	/* A translation is entered for the first time: the block's number. */
	uint32_t (*meet)(void *context, guest_addr pc, uint32_t size);

	/*
	 * A block is entered.  Returns what can be inlined from now on in place
	 * of this call; NULL if it must go on calling.
	 */
	const struct engine_block *(*enter)(void *context, uint32_t number,
					    enum engine_entry entry);

	/* An instruction that engine_hook() named, before it executes. */
	void (*instruction)(void *context, struct engine_call *call);

	/* A page that the TLB does not have; false: a fault. */
	bool (*miss)(void *context, guest_addr addr, enum vm_access access,
		     struct engine_page *out);

	/* A system call retired; an exception; not an instruction. */
	void (*syscall)(void *context);
	void (*exception)(void *context, unsigned number);
	void (*invalid)(void *context);
};

/* ------- one engine ------- */

/*
 * Opens an engine for a program of this architecture, with the arena as its
 * memory.
 */
int engine_open(struct engine **out, enum arch arch, uint8_t *arena,
		uint64_t arena_size, const struct engine_calls *calls,
		void *context, struct failure *why);
void engine_close(struct engine *engine);

enum engine_exit {
	ENGINE_RETURNED, /* stopped, at `until`, or by an unanswered miss */
	ENGINE_REFUSED,	 /* it could not execute an instruction */
	ENGINE_UNFETCHED, /* of a machine: there can be no code */
	ENGINE_FAILED,	 /* engine_error() says how */
};
enum engine_exit engine_run(struct engine *engine, guest_addr pc,
			    guest_addr until);
void engine_stop(struct engine *engine);

/* Nothing is ever mapped there: an engine that is to run on runs "until" it. */
guest_addr engine_never(const struct engine *engine);

const char *engine_error(const struct engine *engine);

/* Name and version. */
const char *engine_name(void);

/* ------- counting ------- */

/* It moves when code is first inlined: ask each time. */
struct counter *engine_counter(struct engine *engine);

/* Without counting: inlined code only looks whether it was asked to stop. */
void engine_run_uncounted(struct engine *engine);

/* With counting, again; all translations must go. */
void engine_run_counted(struct engine *engine);

/* Whether the calls of `enter` are being replaced. */
bool engine_inlines(const struct engine *engine);

/* Where the demands of all blocks are; before the first that has some. */
void engine_set_demands(struct engine *engine, const struct demand *demands);

/* ------- translations and the TLB ------- */

/* Where code is as it was, what is known of indirect jumps stays. */
void engine_flush_tlb(struct engine *engine, bool code_stays);

/* Drops the translations of a range of code. */
void engine_drop(struct engine *engine, guest_addr addr, uint64_t size);

/* Drops all of them; blocks are met anew. */
void engine_drop_all(struct engine *engine);

/* There must never be more translated blocks than this. */
uint32_t engine_blocks_most(const struct engine *engine);

/*
 * The engine is about to be forked.  From the second time on, what it translates
 * is there for those that come of it, and what they translate, too: a program
 * that forks once pays nothing for it.
 */
void engine_keep(struct engine *engine);

/*
 * `instruction` is called for the instructions between these addresses where
 * they are translated from now on; for none if `last` is 0.
 */
void engine_hook(struct engine *engine, guest_addr first, guest_addr last);

/*
 * The engine gets to see these bytes in place of the instruction at `pc`, of
 * the block that it is about to translate; one of a block.  If the instruction
 * goes on on another page, they are not known yet: `size` is 0.
 */
#define ENGINE_DISGUISE_MOST 15u
void engine_disguise(struct engine *engine, guest_addr pc, const uint8_t *bytes,
		     unsigned size);

/*
 * That call is left out from now on while `operand` is aligned; always, if it
 * is NULL.
 */
void engine_leave_out(struct engine *engine, const struct engine_call *call,
		      const struct demand *operand);

/* ------- accesses to data ------- */

#define ENGINE_LOG_READS 1u
#define ENGINE_LOG_WRITES 2u
#define ENGINE_LOG_VALUES 4u

/*
 * What is translated from now on logs such accesses; what was translated before
 * must be dropped, and nothing be left in the log.  For 0 it does not fail.
 */
int engine_log(struct engine *engine, unsigned kinds, struct failure *why);
unsigned engine_logs(const struct engine *engine);

/*
 * There is room for what ENGINE_LOGGED_STEPS instructions access: after as many
 * at most, the log must be cleared.  Each iteration of a repeated instruction
 * counts.
 */
#define ENGINE_LOGGED_STEPS 4096u
void engine_log_clear(struct engine *engine);

/* Whether a repeated instruction should not log any more. */
bool engine_log_is_full(const struct engine *engine);

/* Where budgets count from has changed. */
void engine_log_shift(struct engine *engine, int64_t by);

/*
 * Forgets what was logged of the instruction before which `rest` is left to
 * execute, its block's budget and its `left`; and what came behind it.
 */
void engine_log_take_back(struct engine *engine, int64_t rest);

/*
 * The same of what came behind the last mark.  An inlined repeated instruction
 * marks each iteration; `enter` is called for it when the log is full.
 */
void engine_log_mark(struct engine *engine);
void engine_log_return(struct engine *engine);

/* Whether there may be an access to [first, first + span). */
bool engine_log_may_have(const struct engine *engine, guest_addr first,
			 uint64_t span);

/* What was logged, in order. */
struct log_reader {
	const uint64_t *at, *end;
	const struct access_site *sites;
	unsigned words;		/* of each access */
	unsigned tag_bits;	/* highest ones of an address, that do not
				   count */
};
void engine_log_read(const struct engine *engine, struct log_reader *out);

/* A piece of it. */
struct logged {
	int64_t budget;
	const struct access_site *sites;
	const uint64_t *words;
	unsigned count;		/* of accesses */
};

/* The second word of a piece.  A function's is 0, and its site follows. */
#define LOG_SITE_BITS 25u	/* the number of a site, and above it ... */
#define LOG_PIECE_MOST 63u	/* ... accesses; behind which, some of the last
				   ones do not count: */
#define LOG_UNDONE_AT 32u
#define LOG_HEAD 2u		/* words; and of a site: */
#define LOG_SITE (sizeof(struct access_site) / sizeof(uint64_t))

/* The next piece; false: there is none. */
static inline __attribute__((always_inline)) bool
log_next(struct log_reader *reader, struct logged *out)
{
	const uint64_t *at = reader->at;
	uint32_t what;

	if (at == reader->end)
		return false;
	out->budget = (int64_t)at[0];
	what = (uint32_t)at[1];
	out->count = what >> LOG_SITE_BITS;
	if (out->count) {
		out->sites = &reader->sites[what % (1u << LOG_SITE_BITS)];
		out->words = at + LOG_HEAD;
		reader->at = out->words + out->count * reader->words;
		out->count -= at[1] >> LOG_UNDONE_AT;
		return true;
	}
	out->sites = (const struct access_site *)(at + LOG_HEAD);
	out->count = 1;
	out->words = at + LOG_HEAD + LOG_SITE;
	reader->at = out->words + 2;
	return true;
}

static inline guest_addr log_addr(const struct log_reader *reader,
				  const uint64_t *access)
{
	return (guest_addr)((int64_t)(*access << reader->tag_bits) >>
			    reader->tag_bits);
}

/* How many addresses jumps went to, about, since engine_count_targets(). */
uint32_t engine_targets(const struct engine *engine);
void engine_count_targets(struct engine *engine);

/* How often the engine was asked where a jump goes. */
uint64_t engine_jumps_missed(const struct engine *engine);

/* Of how many blocks the conditional jump leads to another one at once, and how
 * many are counted without a jump, since the engine was opened. */
uint64_t engine_branches(const struct engine *engine);
uint64_t engine_straight(const struct engine *engine);

/* How many instructions on vectors had another form than what cprec generates in
 * their place is made of, and so are slower, since the engine was opened. */
uint64_t engine_vectors_unmatched(const struct engine *engine);

/* What the engine calls one of its operations; NULL: not known, as before the
 * first direct access. */
const char *engine_operation(const struct engine *engine, unsigned number);

/* Where translated code goes back to the engine without a block that it could
 * be linked with; NULL: that is not known yet. */
const uint8_t *engine_way_out(const struct engine *engine);

/* ------- direct accesses ------- */

/*
 * What is translated from now on accesses memory where the arena has its
 * address, without asking the TLB; the arena begins below 2^31.  What must not
 * be accessed so is to be a fault of the host; an address of 2^`bits` or above
 * is one at any rate.  So must be what is less than ENGINE_DIRECT_ROOM
 * bytes above.  False if this engine cannot.
 */
#define ENGINE_DIRECT_BITS 46u
#define ENGINE_DIRECT_ROOM (UINT64_C(1) << 36)
bool engine_go_direct(struct engine *engine, const uint8_t *arena);
bool engine_is_direct(const struct engine *engine);

/* What is translated asks the TLB again; what was translated must go. */
void engine_end_direct(struct engine *engine);

/* The same of blocks that begin at an address. */
void engine_pause_direct(struct engine *engine, guest_addr pc);

/* Whether an instruction of the host is one of a translation, of the engine
 * that this thread is in. */
bool engine_has_translated(struct engine *engine, uintptr_t host_pc);

/*
 * From a signal handler: leaves the translation in front of the guest's
 * instruction that the host's belongs to, and ends the run.
 */
_Noreturn void engine_leave(struct engine *engine, uintptr_t host_pc);

/* ------- registers ------- */

/* Registers of the table of formats/registers.h; at most 16 bytes. */
void engine_read(struct engine *engine, unsigned reg, void *bytes);
void engine_write(struct engine *engine, unsigned reg, const void *bytes);

/* The registers as a whole, for another thread; NULL when out of memory. */
struct engine_context *engine_context_create(struct engine *engine);
void engine_context_destroy(struct engine_context *context);
void engine_context_save(struct engine *engine, struct engine_context *context);
void engine_context_restore(struct engine *engine,
			    const struct engine_context *context);

/*
 * Forgets that an exception was raised: the engine waits for its delivery and
 * takes the next one for a double fault.  Registers are lost.
 */
void engine_reset(struct engine *engine);

/* ------- of x86 only ------- */

/* IE, ZE, OE, UE, PE, in a unit as in MXCSR and in the status word of x87. */
#define FLOAT_UNIT_FLAGS 0x3du

/* A floating-point unit of the engine: bytes of its own. */
struct float_unit {
	uint8_t *raised;	/* flags of exceptions */
	uint8_t *flush;		/* whether it flushes to zero */
};

/* What no register of the engine tells. */
struct engine_x86 {
	const uint8_t *general; /* 16 registers of 8 bytes, as they are encoded */
	uint8_t *mxcsr;
	struct float_unit sse, x87;
};
const struct engine_x86 *engine_x86(const struct engine *engine);

#endif
