/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.c - what translating and translated code call
 *
 * The address that a call returns to tells which translation it is from, and
 * what stands before it whether the call was inlined (inline_count.c), in
 * which case it comes without arguments.
 */
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* The block's number, known from before or found out now. */
static uint32_t identify(struct engine *engine, const uint8_t *ret,
			 guest_addr pc, uint32_t size)
{
	size_t slot = ((uintptr_t)ret >> 5) % KNOWN_BLOCKS;

	if (engine->known[slot].ret != ret || engine->known[slot].pc != pc ||
	    engine->known[slot].size != size) {
		engine->known[slot].number =
			engine->calls->meet(engine->context, pc, size);
		engine->known[slot].ret = ret;
		engine->known[slot].pc = pc;
		engine->known[slot].size = size;
	}
	return engine->known[slot].number;
}

static void enter_block(struct engine *engine, uint8_t *ret, uint64_t pc,
			uint32_t size)
{
	const struct engine_calls *calls = engine->calls;
	const struct engine_block *block;
	uint32_t number;

	switch (inline_state(ret)) {
	case INLINED_PLAIN:
		calls->enter(engine->context, engine->counter->current,
			     ENTRY_UNCOUNTED);
		break;
	case INLINED_COUNT:
		number = engine->counter->crossing;
		engine->counter->crossing = 0;
		if (number)
			calls->enter(engine->context, number, ENTRY_CROSSING);
		else
			calls->enter(engine->context, engine->counter->current,
				     ENTRY_COUNTED);
		break;
	case INLINED_REP:
		calls->enter(engine->context, inline_rep_number(ret),
			     ENTRY_REPEATED);
		break;
	case INLINED_NOT:
		number = identify(engine, ret, pc, size);
		block = calls->enter(engine->context, number, ENTRY_CALLED);
		if (block)
			inline_count(engine, ret, number, block);
	}
}

/*
 * A machine of ARMv7-M can be interrupted or stopped in front of a block that
 * begins in an IT block: then that state is what counts.
 */
__attribute__((noinline)) void calls_on_block(uc_engine *uc, uint64_t pc,
					      uint32_t size, void *user)
{
	uint8_t *ret = __builtin_return_address(0);
	struct engine *engine = engine_back();
	bool in_it = engine->kind == &engine_kind_cortex_m &&
		     it_bring_back(engine, ret);

	(void)uc;
	(void)user;
	engine->left = false;
	float_leave(engine);
	enter_block(engine, ret, pc, size);
	float_enter(engine);
	if (in_it && !engine->left)
		it_take_away(engine);
}

__attribute__((noinline)) void
calls_on_instruction(uc_engine *uc, uint64_t pc, uint32_t size, void *user)
{
	struct engine *engine = engine_back();
	struct engine_call call = {
		.pc = pc, .size = size, .ret = __builtin_return_address(0),
	};
	bool in_it;

	(void)uc;
	(void)user;
	in_it = it_bring_back(engine, call.ret);
	float_leave(engine);
	engine->calls->instruction(engine->context, &call);
	float_enter(engine);
	if (in_it)
		it_take_away(engine);
}

/* Of the engine: the block begins with its address, of the guest's size. */
typedef void translate_fn(void *cpu, void *block, int most);

static int begin_block(void *cpu, const void *block, int most)
{
	struct engine *engine = engine_back();
	guest_addr pc = 0;

	if (!engine)
		return most;
	memcpy(&pc, block, engine->kind->is_narrow ? 4 : sizeof(pc));
	engine->cpu = cpu;
	/* The block lies in front of its translation. */
	inline_begin(engine, block);
	accesses_begin_block(engine);
	direct_begin_block(engine, pc);
	lanes_begin_block(engine);
	engine->disguise.size = 0;
	engine->disguise.waits = false;
	return (int)engine->calls->translate(engine->context, pc,
					     (unsigned)most);
}

static void end_block(void)
{
	if (engine_entered)
		accesses_end_block(engine_entered);
}

#define TRANSLATES(name)                                                       \
	REPLACES(translate_fn, name);                                          \
	void name(void *cpu, void *block, int most)                            \
	{                                                                      \
		if (kept_is_found())                                           \
			return;                                                \
		engine_##name(cpu, block, begin_block(cpu, block, most));      \
		end_block();                                                   \
	}

TRANSLATES(gen_intermediate_code_x86_64)
TRANSLATES(gen_intermediate_code_aarch64)
TRANSLATES(gen_intermediate_code_arm)

/*
 * The engine calls this when a page gets its first translation, to look through
 * all of its TLB for entries that let writes pass: a tenth of the time of a
 * short replay.  Who opened it watches pages with code (`miss`).
 */
typedef void notice_fn(void *cpu, uint64_t start, uint64_t size);

#define NOTICES(name)                                                          \
	REPLACES(notice_fn, name);                                             \
	void name(void *cpu, uint64_t start, uint64_t size)                    \
	{                                                                      \
		(void)cpu;                                                     \
		(void)start;                                                   \
		(void)size;                                                    \
	}

NOTICES(tlb_reset_dirty_by_vaddr_x86_64)
NOTICES(tlb_reset_dirty_by_vaddr_aarch64)
NOTICES(tlb_reset_dirty_by_vaddr_arm)
