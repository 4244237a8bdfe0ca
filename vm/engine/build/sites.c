/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sites.c - indirect jumps of translated code that find their way themselves
 *
 * Where the engine generates an indirect jump, which calls for the translation
 * at the new address, the look-up itself is generated:
 *
 *	known = jumps.known[(pc ^ pc >> 14) % KNOWN_JUMPS]
 *	goto known.pc == pc ? known.code : jumps_ask
 *
 * in ten instructions without a call or a branch.  What the table has, and when
 * it forgets, is jumps.c's; what is not there it is asked for.  The table has
 * nothing for a state in which translations are not the only ones of their
 * address: a block is translated in the state that it is then executed in, and
 * nothing in it can change that without ending it.  Where jumps of 32-bit ARM
 * lead, T and IT decide, too: they are part of `pc` (jumps.h).
 */
#include "vm/engine/build/generate.h"
#include "vm/engine/build/jumps.h"
#include "vm/engine/build/layout.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/build/replaces.h"

#define SIZE_SHIFT 4
_Static_assert(sizeof(struct known_jump) == 1 << SIZE_SHIFT, "an entry");

/* The engine's functions that generate operations, and some values for them. */
struct site {
	void *context;
	const struct generator *by;
	uintptr_t pc, entry, number, ask;	/* `pc` is only read */
};

/* entry = &known[...] */
static void find_entry(const struct site *site, const struct jumps *jumps)
{
	const struct generator *by = site->by;
	void *context = site->context;
	uintptr_t entry = site->entry;

	generate_with(by, context, OP_SHIFT_RIGHT, entry, site->pc, JUMPS_FOLD);
	by->op3(context, OP_XOR, entry, entry, site->pc);
	generate_with(by, context, OP_AND, entry, entry, KNOWN_JUMPS - 1);
	generate_with(by, context, OP_SHIFT_UP, entry, entry, SIZE_SHIFT);
	generate_with(by, context, OP_ADD, entry, entry,
		      (uintptr_t)jumps->known);
}

static void generate(const struct site *site, const struct engine *engine)
{
	const struct generator *by = site->by;
	void *context = site->context;

	find_entry(site, &engine->jumps);
	by->op3(context, OP_LOAD_64, site->number, site->entry,
		offsetof(struct known_jump, pc));
	by->op3(context, OP_LOAD_64, site->entry, site->entry,
		offsetof(struct known_jump, code));
	by->op2(context, OP_CONSTANT, site->ask, (uintptr_t)jumps_ask);
	by->op6(context, OP_MOVE_IF, site->entry, site->pc, site->number,
		site->entry, site->ask, IS_EQUAL);
	by->op1(context, OP_GO_TO, site->entry);
}

/* With temporary values; the program counter is in `pc`. */
static void generate_all(struct site *site, const struct engine *engine)
{
	uintptr_t *values[] = { &site->entry, &site->number, &site->ask };

	for (unsigned i = 0; i < 3; i++)
		*values[i] = (uintptr_t)site->by->new(site->context, TYPE_64,
						      false);
	generate(site, engine);
	for (unsigned i = 0; i < 3; i++)
		site->by->free(site->context, (void *)*values[i]);
}

static bool is_inline(const struct engine *engine)
{
	return engine && engine->jumps.are_inline;
}

typedef void go_fn(void *context);
REPLACES(go_fn, tcg_gen_lookup_and_goto_ptr_x86_64);
void tcg_gen_lookup_and_goto_ptr_x86_64(void *context)
{
	struct engine *engine = engine_entered;
	struct site site = { .context = context, .by = &generator_x86 };

	if (!is_inline(engine) || !engine->env || !jumps_are_plain(engine)) {
		engine_tcg_gen_lookup_and_goto_ptr_x86_64(context);
		return;
	}
	site.pc = (uintptr_t)site.by->new(context, TYPE_64, false);
	site.by->op3(context, OP_LOAD_64, site.pc, engine->env, layout.pc);
	generate_all(&site, engine);
	site.by->free(context, (void *)site.pc);
}

/* The program counter is a value that translated code has a name for. */
REPLACES(go_fn, tcg_gen_lookup_and_goto_ptr_aarch64);
void tcg_gen_lookup_and_goto_ptr_aarch64(void *context)
{
	struct engine *engine = engine_entered;
	struct site site = { .context = context, .by = &generator_arm64 };

	if (!is_inline(engine) || !engine->pc) {
		engine_tcg_gen_lookup_and_goto_ptr_aarch64(context);
		return;
	}
	site.pc = engine->pc;
	generate_all(&site, engine);
}

/* part = that 32-bit word of the state */
static void load(const struct site *site, const struct engine *engine,
		 uintptr_t part, const uint32_t *word)
{
	site->by->op3(site->context, OP_LOAD_LOW_32, part, engine->env,
		      (uintptr_t)((const uint8_t *)word - engine->state));
}

/* pc = what the table calls it by */
static void generate_name_arm(const struct site *site,
			      const struct engine *engine)
{
	const struct generator *by = site->by;
	void *context = site->context;
	uintptr_t part = (uintptr_t)by->new(context, TYPE_64, false);
	uint64_t others = jumps_flags_arm(engine->state) &
			  ~(FLAGS_THUMB_ARM | FLAGS_IT_ARM);

	by->op2(context, OP_WIDEN, site->pc, engine->pc);
	load(site, engine, part, engine->arm.thumb);
	by->op3(context, OP_OR, site->pc, site->pc, part);
	load(site, engine, part, engine->arm.it);
	generate_with(by, context, OP_SHIFT_UP, part, part, FLAGS_AT_ARM);
	by->op3(context, OP_OR, site->pc, site->pc, part);
	generate_with(by, context, OP_OR, site->pc, site->pc,
		      others << FLAGS_AT_ARM);
	by->free(context, (void *)part);
}

REPLACES(go_fn, tcg_gen_lookup_and_goto_ptr_arm);
void tcg_gen_lookup_and_goto_ptr_arm(void *context)
{
	struct engine *engine = engine_entered;
	struct site site = { .context = context, .by = &generator_arm };

	if (!is_inline(engine) || !engine->pc || !engine->arm.thumb) {
		engine_tcg_gen_lookup_and_goto_ptr_arm(context);
		return;
	}
	site.pc = (uintptr_t)site.by->new(context, TYPE_64, false);
	generate_name_arm(&site, engine);
	generate_all(&site, engine);
	site.by->free(context, (void *)site.pc);
}
