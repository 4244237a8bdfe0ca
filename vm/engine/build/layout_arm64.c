/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_arm64.c - where the engine keeps the exclusive monitor of AArch64, the
 * program counter, and what an exception of a machine is about
 *
 * No register of the engine tells what the last load-exclusive has marked; a
 * key frame must have it.  When the engine starts, it names parts of its state
 * that translated code uses: that tells where they are in it.  Where the state
 * is, it tells whenever a system register is written.
 */
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of a saved context, before the state, at most. */
#define CONTEXT_HEAD 64u

/* Places in the state; 0: not told. */
static _Thread_local struct {
	size_t addr, value, high, pc;
} found;

/* The state that the function below was called with, on this thread. */
static _Thread_local uint8_t *handed;

/* An integer of 64 bits: the program counter of AArch32 is none. */
#define TYPE_64 1

typedef void *name_fn(void *context, int type, void *base, intptr_t offset,
		      const char *name);
REPLACES(name_fn, tcg_global_mem_new_internal_aarch64);
void *tcg_global_mem_new_internal_aarch64(void *context, int type, void *base,
					  intptr_t offset, const char *name)
{
	if (!strcmp(name, "exclusive_addr"))
		found.addr = (size_t)offset;
	else if (!strcmp(name, "exclusive_val"))
		found.value = (size_t)offset;
	else if (!strcmp(name, "exclusive_high"))
		found.high = (size_t)offset;
	else if (!strcmp(name, "pc") && type == TYPE_64)
		found.pc = (size_t)offset;
	return engine_tcg_global_mem_new_internal_aarch64(context, type, base,
							  offset, name);
}

typedef void rebuild_fn(uint8_t *state);
REPLACES(rebuild_fn, arm_rebuild_hflags_aarch64);
void arm_rebuild_hflags_aarch64(uint8_t *state)
{
	handed = state;
	engine_arm_rebuild_hflags_aarch64(state);
}

static uint64_t *at(const struct engine *engine, size_t offset)
{
	return (uint64_t *)(void *)(engine->state + offset);
}

const char *layout_find_arm64(struct engine *engine)
{
	/* TPIDRRO_EL0, as it is. */
	uc_arm64_cp_reg reg = { .op0 = 3, .op1 = 3, .crn = 13, .op2 = 3 };

	handed = NULL;
	uc_reg_write(engine->uc, UC_ARM64_REG_CP_REG, &reg);
	uc_context_restore(engine->uc, engine->pristine);
	engine->state = handed;
	if (!handed || !found.addr || !found.value || !found.high)
		return "the exclusive monitor";
	if (!found.pc)
		return "the program counter";
	engine->arm64 = (struct engine_arm64){
		.addr = at(engine, found.addr),
		.value = at(engine, found.value),
		.high = at(engine, found.high),
		.pc = at(engine, found.pc),
	};
	return NULL;
}

/* ------- what an exception is about ------- */

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
static const struct engine_exception_state *find_syndrome(struct engine *engine)
{
	const uint32_t wanted = PROBE_SYNDROME;
	size_t size = uc_context_size(engine->uc) - CONTEXT_HEAD;
	const uint8_t *place = NULL;

	for (size_t i = 0; i + sizeof(wanted) <= size; i += sizeof(wanted)) {
		if (memcmp(engine->state + i, &wanted, sizeof(wanted)) != 0)
			continue;
		if (place)
			return NULL;
		place = engine->state + i;
	}
	return (const void *)place;
}

/* Runs one instruction, which nobody is told of. */
static uc_err run_probe(struct engine *engine)
{
	uint32_t *code = (void *)engine->ram.host, before = *code;
	uint64_t at = engine->ram.base;
	uc_hook hook;
	uc_err err = uc_hook_add(engine->uc, &hook, UC_HOOK_INTR,
				 (void *)on_probe, NULL, 1, 0);

	if (err)
		return err;
	*code = PROBE;
	engine_entered = NULL;
	err = uc_emu_start(engine->uc, at, 0, 0, 0);
	engine_enter(engine);
	*code = before;
	uc_ctl_remove_cache(engine->uc, at, at + sizeof(*code));
	uc_hook_del(engine->uc, hook);
	return err;
}

const char *layout_find_arm64_machine(struct engine *engine)
{
	const char *missing = layout_find_arm64(engine);

	if (missing)
		return missing;
	if (!run_probe(engine))
		engine->arm64.exception = find_syndrome(engine);
	uc_context_restore(engine->uc, engine->pristine);
	return engine->arm64.exception ? NULL : "what an exception is about";
}
