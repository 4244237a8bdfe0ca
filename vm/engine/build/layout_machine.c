/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_machine.c - where the engine keeps what an exception of a machine is
 * about
 *
 * No register tells it.  So one is raised whose syndrome is known, and that is
 * looked for in the state.
 */
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of a saved context, before the state, at most. */
#define CONTEXT_HEAD 64u

/* svc #0x1235, and the syndrome that this has. */
#define PROBE 0xd40246a1u
#define PROBE_SYNDROME 0x56001235u

static void on_probe(uc_engine *uc, uint32_t number, void *user)
{
	(void)number;
	(void)user;
	uc_emu_stop(uc);
}

/* The only place in the state with that value; NULL if there are others. */
static struct engine_exception_state *find_syndrome(struct engine *engine,
						    uint32_t wanted)
{
	size_t size = uc_context_size(engine->uc) - CONTEXT_HEAD;
	uint8_t *place = NULL;

	for (size_t i = 0; i + sizeof(wanted) <= size; i += sizeof(wanted)) {
		if (memcmp(engine->state + i, &wanted, sizeof(wanted)) != 0)
			continue;
		if (place)
			return NULL;
		place = engine->state + i;
	}
	return (void *)place;
}

/* Runs one instruction, which nobody is told of. */
static uc_err run_probe(struct engine *engine, uint32_t probe, bool is_thumb)
{
	uint32_t *code = (void *)engine->rams[0].host, before = *code;
	uint64_t at = engine->rams[0].base;
	uc_hook hook;
	uc_err err = uc_hook_add(engine->uc, &hook, UC_HOOK_INTR,
				 (void *)on_probe, NULL, 1, 0);

	if (err)
		return err;
	*code = probe;
	engine_entered = NULL;
	err = uc_emu_start(engine->uc, at | is_thumb, 0, 0, 0);
	engine_enter(engine);
	*code = before;
	engine_drop(engine, at, sizeof(*code));
	uc_hook_del(engine->uc, hook);
	return err;
}

const char *layout_find_exception(struct engine *engine, uint32_t code,
				  bool is_thumb, uint32_t syndrome)
{
	if (!run_probe(engine, code, is_thumb))
		engine->arm.exception = find_syndrome(engine, syndrome);
	uc_context_restore(engine->uc, engine->pristine);
	return engine->arm.exception ? NULL : "what an exception is about";
}

const char *layout_find_arm64_machine(struct engine *engine)
{
	const char *missing = layout_find_arm64(engine);

	return missing ? missing :
	       layout_find_exception(engine, PROBE, false, PROBE_SYNDROME);
}
