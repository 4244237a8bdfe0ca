/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_arm.c - where the engine keeps the exclusive monitor of AArch64 and of
 * 32-bit ARM, and the program counter of AArch64
 *
 * No register of the engine tells what the last load-exclusive has marked; a
 * key frame must have it.  When the engine starts, it names parts of its state
 * that translated code uses: that tells where they are in it.  Where the state
 * is, it tells whenever a register is written that translations depend on.
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

static void note(int type, intptr_t offset, const char *name, void *value)
{
	if (!strcmp(name, "exclusive_addr"))
		found.addr = (size_t)offset;
	else if (!strcmp(name, "exclusive_val"))
		found.value = (size_t)offset;
	else if (!strcmp(name, "exclusive_high"))
		found.high = (size_t)offset;
	else if (!strcmp(name, "pc") && type == TYPE_64) {
		found.pc = (size_t)offset;
		if (engine_entered)
			engine_entered->pc = (uintptr_t)value;
	}
}

typedef void *name_fn(void *context, int type, void *base, intptr_t offset,
		      const char *name);

#define NAMES(function)                                                        \
	REPLACES(name_fn, function);                                           \
	void *function(void *context, int type, void *base, intptr_t offset,   \
		       const char *name)                                       \
	{                                                                      \
		void *value = engine_##function(context, type, base, offset,   \
						name);                         \
                                                                               \
		note(type, offset, name, value);                               \
		return value;                                                  \
	}

NAMES(tcg_global_mem_new_internal_aarch64)
NAMES(tcg_global_mem_new_internal_arm)

typedef void rebuild_fn(uint8_t *state);

#define REBUILDS(function)                                                     \
	REPLACES(rebuild_fn, function);                                        \
	void function(uint8_t *state)                                          \
	{                                                                      \
		handed = state;                                                \
		engine_##function(state);                                      \
	}

REBUILDS(arm_rebuild_hflags_aarch64)
REBUILDS(arm_rebuild_hflags_arm)

static uint64_t *at(const struct engine *engine, size_t offset)
{
	return (uint64_t *)(void *)(engine->state + offset);
}

/* Writes the register, as it is, to be told the state. */
const char *layout_find_monitor(struct engine *engine, int reg,
				const void *value)
{
	handed = NULL;
	uc_reg_write(engine->uc, reg, value);
	uc_context_restore(engine->uc, engine->pristine);
	engine->state = handed;
	if (!handed || !found.addr || !found.value)
		return "the exclusive monitor";
	engine->arm.addr = at(engine, found.addr);
	engine->arm.value = at(engine, found.value);
	return NULL;
}

const char *layout_find_arm64(struct engine *engine)
{
	/* TPIDRRO_EL0. */
	uc_arm64_cp_reg reg = { .op0 = 3, .op1 = 3, .crn = 13, .op2 = 3 };
	const char *missing =
		layout_find_monitor(engine, UC_ARM64_REG_CP_REG, &reg);

	if (missing)
		return missing;
	if (!found.high)
		return "the exclusive monitor";
	if (!found.pc)
		return "the program counter";
	engine->arm.high = at(engine, found.high);
	engine->arm.pc = at(engine, found.pc);
	return NULL;
}

const char *layout_find_arm(struct engine *engine)
{
	uint32_t status;
	uc_err err = uc_reg_read(engine->uc, UC_ARM_REG_CPSR, &status);

	return err ? "its status" :
		     layout_find_monitor(engine, UC_ARM_REG_CPSR, &status);
}
