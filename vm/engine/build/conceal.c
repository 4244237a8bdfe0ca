/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conceal.c - instructions that the engine does not get to see
 *
 * The guest stops before some instructions, which the engine never executes.
 * It would translate them all the same, and there are some that end it, and the
 * whole process with it.  So what fetches code for it finds instructions of the
 * same size there that do nothing.
 *
 * Whether one is to be concealed cannot be told before all of it is there.  One
 * that goes on on another page is asked for when the engine is about to look at
 * it: it would ask for that page next.
 */
#include "vm/engine/build/conceal.h"

#include "vm/engine/engine_internal.h"

void engine_conceal(struct engine *engine, guest_addr pc, unsigned size)
{
	engine->concealed.pc = pc;
	engine->concealed.size = size;
	engine->concealed.is_any = true;
}

bool conceal_waits(uint64_t addr)
{
	const struct engine *engine = engine_entered;

	return engine && engine->concealed.is_any && !engine->concealed.size &&
	       engine->concealed.pc == addr;
}

void conceal_settle(void)
{
	struct engine *engine = engine_entered;

	engine->concealed.size = engine->calls->conceal(engine->context,
							engine->concealed.pc);
	engine->concealed.is_any = engine->concealed.size != 0;
}

struct concealed conceal_at(uint64_t addr)
{
	const struct engine *engine = engine_entered;
	struct concealed none = { 0 };

	if (!engine || !engine->concealed.is_any ||
	    addr - engine->concealed.pc >= engine->concealed.size)
		return none;
	return (struct concealed){
		.size = engine->concealed.size,
		.at = (unsigned)(addr - engine->concealed.pc),
	};
}
