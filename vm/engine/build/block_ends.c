/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_ends.c - blocks that end without a jump go on by themselves
 *
 * Many blocks are ended before their next jump (vm/processor/plan.c).  At such
 * an end, the engine's translation for x86 goes back to the engine's main loop,
 * which looks for the next block, each time.  Here it goes on as behind a jump:
 * on the same page it is linked with the next block, else it finds its way like
 * an indirect jump, as pages may change.  So it does also if an instruction over
 * the end of the page may be next, which no block can be linked with.  Both ARMs
 * do the same of themselves.
 *
 * The engine's loop that translates a block ends with a function for that, among
 * those that it is given: ours is put in its place.
 *
 * Behind it, the engine notes what each hook was translated into, to drop that
 * when the hook is removed.  No hook of cprec's is removed before the engine is
 * closed, so the hook on blocks seems to be for none then.
 */
#include "vm/engine/build/jumps.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* An instruction that begins so near the end of a page may go over it. */
#define INSN_MOST_X86 15u

/* What the engine knows of a block of x86 while it translates it, and why it
 * ends it (DisasContextBase). */
struct under_way_x86 {
	void *block;
	uint64_t first, next;	/* addresses: of the block, and behind it */
	int why;
};
enum { FULL = 1 };		/* DISAS_TOO_MANY: as good as a jump to `next` */

typedef void end_fn(void *under_way, void *cpu);

/* What the engine translates a block with (TranslatorOps). */
struct translator {
	void *others[5];
	end_fn *end;
};

static _Thread_local struct {
	end_fn *engines_own;	/* of the block under way */
	const struct under_way_x86 *full;	/* it is ended; NULL: it is not,
						   or by a jump */
} ending;

/* ------- hooks ------- */

static void cover(bool all)
{
	if (engine_entered)
		engine_cover(engine_entered, all);
}

/* ------- x86 ------- */

typedef void go_on_fn(void *context, unsigned link);
typedef void leave_block_fn(void *context, void *block, unsigned link);
typedef void look_up_fn(void *context);

extern go_on_fn tcg_gen_goto_tb_x86_64;
extern look_up_fn tcg_gen_lookup_and_goto_ptr_x86_64;

static bool is_near(const struct under_way_x86 *block)
{
	return block->next / GUEST_PAGE == block->first / GUEST_PAGE &&
	       (block->next + INSN_MOST_X86 - 1) / GUEST_PAGE ==
		       block->next / GUEST_PAGE;
}

REPLACES(leave_block_fn, tcg_gen_exit_tb_x86_64);
void tcg_gen_exit_tb_x86_64(void *context, void *block, unsigned link)
{
	const struct under_way_x86 *full = ending.full;

	if (!full || block) {
		engine_tcg_gen_exit_tb_x86_64(context, block, link);
	} else if (is_near(full)) {
		tcg_gen_goto_tb_x86_64(context, 0);
		engine_tcg_gen_exit_tb_x86_64(context, full->block, 0);
	} else {
		tcg_gen_lookup_and_goto_ptr_x86_64(context);
	}
}

static bool goes_on(const struct under_way_x86 *block)
{
	const struct engine *engine = engine_entered;

	return engine && engine->jumps.are_ours && block->why == FULL &&
	       jumps_are_plain(engine);
}

static void end_x86(void *under_way, void *cpu)
{
	ending.full = goes_on(under_way) ? under_way : NULL;
	ending.engines_own(under_way, cpu);
	ending.full = NULL;
	cover(false);
}

/* ------- all ------- */

static void end(void *under_way, void *cpu)
{
	ending.engines_own(under_way, cpu);
	cover(false);
}

typedef void translator_fn(const struct translator *by, void *under_way,
			   void *cpu, void *block, int most);

#define LOOPS(name, to_end)                                                    \
	REPLACES(translator_fn, name);                                         \
	void name(const struct translator *by, void *under_way, void *cpu,     \
		  void *block, int most)                                       \
	{                                                                      \
		struct translator ours = *by;                                  \
									       \
		ending.engines_own = by->end;                                  \
		ours.end = to_end;                                             \
		engine_##name(&ours, under_way, cpu, block, most);             \
		cover(true);                                                   \
	}

LOOPS(translator_loop_x86_64, end_x86)
LOOPS(translator_loop_aarch64, end)
LOOPS(translator_loop_arm, end)
