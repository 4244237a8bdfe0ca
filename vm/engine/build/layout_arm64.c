/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_arm64.c - where the engine keeps the exclusive monitor of AArch64, and
 * the program counter
 *
 * No register of the engine tells what the last load-exclusive has marked; a
 * key frame must have it.  When the engine starts, it names parts of its state
 * that translated code uses: that tells where they are in it.  Where the state
 * is, it tells whenever a system register is written.
 */
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

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
