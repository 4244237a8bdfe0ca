/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sites.c - indirect jumps of translated code that find their way themselves
 *
 * Where the engine generates an indirect jump, which calls for the translation
 * at the new address, x86-64 gets the look-up itself:
 *
 *	known = jumps.known[(pc ^ pc >> 14) % KNOWN_JUMPS]
 *	goto known.pc == pc ? known.code : jumps_ask
 *
 * in ten instructions without a call or a branch.  What the table has, and when
 * it forgets, is jumps.c's; what is not there it is asked for.  The table has
 * nothing for a state in which translations are not the only ones of their
 * address: a block is translated in the state that it is then executed in, and
 * nothing in it can change that without ending it.
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
	uintptr_t pc, entry, number, ask;
};

static uintptr_t constant(const struct site *site, uint64_t number)
{
	site->by->op2(site->context, OP_CONSTANT, site->number, number);
	return site->number;
}

/* entry = &known[...] */
static void find_entry(const struct site *site, const struct jumps *jumps)
{
	static const struct {
		int op;
		uint64_t number;
	} steps[] = {
		{ OP_SHIFT_RIGHT, JUMPS_FOLD }, { 0, 0 },
		{ OP_AND, KNOWN_JUMPS - 1 }, { OP_SHIFT_UP, SIZE_SHIFT },
	};
	uintptr_t from = site->pc;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uintptr_t other = steps[i].op ?
			constant(site, steps[i].number) : site->pc;

		site->by->op3(site->context, steps[i].op ? steps[i].op : OP_XOR,
			      site->entry, from, other);
		from = site->entry;
	}
	site->by->op3(site->context, OP_ADD, site->entry, site->entry,
		      constant(site, (uintptr_t)jumps->known));
}

static void generate(const struct site *site, const struct engine *engine)
{
	const struct generator *by = site->by;
	void *context = site->context;

	by->op3(context, OP_LOAD_64, site->pc, engine->env, layout.pc);
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

typedef void go_fn(void *context);
REPLACES(go_fn, tcg_gen_lookup_and_goto_ptr_x86_64);
void tcg_gen_lookup_and_goto_ptr_x86_64(void *context)
{
	struct engine *engine = engine_entered;
	uintptr_t *values[4];
	struct site site = { .context = context };

	if (!engine || !engine->jumps.are_inline || !engine->env ||
	    !jumps_are_plain(engine)) {
		engine_tcg_gen_lookup_and_goto_ptr_x86_64(context);
		return;
	}
	site.by = engine->kind->generator;
	values[0] = &site.pc;
	values[1] = &site.entry;
	values[2] = &site.number;
	values[3] = &site.ask;
	for (unsigned i = 0; i < 4; i++)
		*values[i] = (uintptr_t)site.by->new(context, TYPE_64, false);
	generate(&site, engine);
	for (unsigned i = 0; i < 4; i++)
		site.by->free(context, (void *)*values[i]);
}
