/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disguise.c - instructions in whose place the engine gets to see others
 *
 * The guest stops before some instructions, which the engine never executes.
 * It would translate them all the same, and there are some that end it, and the
 * whole process with it.  Others it takes for something that they are not.  So
 * what fetches code for it finds other bytes there, as many as there are.
 *
 * Whether one is disguised cannot be told before all of it is there.  One that
 * goes on on another page is asked for when the engine is about to look at it:
 * it would ask for that page next.
 */
#include "vm/engine/build/disguise.h"

#include <string.h>

#include "vm/engine/engine_internal.h"

void engine_disguise(struct engine *engine, guest_addr pc, const uint8_t *bytes,
		     unsigned size)
{
	engine->disguise.pc = pc;
	engine->disguise.size = size;
	engine->disguise.waits = !size;
	if (size)
		memcpy(engine->disguise.bytes, bytes, size);
}

bool disguise_waits(uint64_t addr)
{
	const struct engine *engine = engine_entered;

	return engine && engine->disguise.waits && engine->disguise.pc == addr;
}

void disguise_settle(void)
{
	struct engine *engine = engine_entered;

	engine->disguise.waits = false;
	engine->calls->disguise(engine->context, engine->disguise.pc);
}

bool disguise_is_at(uint64_t addr, void *out, unsigned size)
{
	const struct engine *engine = engine_entered;
	uint64_t at;

	if (!engine)
		return false;
	at = addr - engine->disguise.pc;
	if (at >= engine->disguise.size || engine->disguise.size - at < size)
		return false;
	memcpy(out, engine->disguise.bytes + at, size);
	return true;
}
