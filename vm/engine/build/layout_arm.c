/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_arm.c - where the engine keeps the exclusive monitor of AArch64 and of
 * 32-bit ARM, the program counter of AArch64, and of 32-bit ARM what of CPSR
 * chooses among translations
 *
 * No register of the engine tells what the last load-exclusive has marked; a
 * key frame must have it.  When the engine starts, it names parts of its state
 * that translated code uses: that tells where they are in it.  Where the state
 * is, it tells whenever a register is written that translations depend on.
 */
#include <string.h>

#include "vm/engine/build/jumps.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Places in the state; 0: not told. */
static _Thread_local struct {
	size_t addr, value, high, pc;
} found;

#define CPSR_IT 0x0600fc00u
#define FOUND_BEFORE 16384	/* bytes of the state, at most, before the monitor */

/* The state that the function below was called with, on this thread. */
static _Thread_local uint8_t *handed;

/* `pc_type`: of the program counter; AArch64's engine also has AArch32's. */
static void note(int type, int pc_type, intptr_t offset, const char *name,
		 void *value)
{
	if (!strcmp(name, "exclusive_addr"))
		found.addr = (size_t)offset;
	else if (!strcmp(name, "exclusive_val"))
		found.value = (size_t)offset;
	else if (!strcmp(name, "exclusive_high"))
		found.high = (size_t)offset;
	else if (!strcmp(name, "pc") && type == pc_type) {
		found.pc = (size_t)offset;
		if (engine_entered)
			engine_entered->pc = (uintptr_t)value;
	}
}

typedef void *name_fn(void *context, int type, void *base, intptr_t offset,
		      const char *name);

#define NAMES(function, pc_type)                                               \
	REPLACES(name_fn, function);                                           \
	void *function(void *context, int type, void *base, intptr_t offset,   \
		       const char *name)                                       \
	{                                                                      \
		void *value = engine_##function(context, type, base, offset,   \
						name);                         \
                                                                               \
		if (engine_entered)                                            \
			engine_entered->env =                                  \
				(uintptr_t)context + (uintptr_t)base;          \
		note(type, pc_type, offset, name, value);                      \
		return value;                                                  \
	}

NAMES(tcg_global_mem_new_internal_aarch64, TYPE_64)
NAMES(tcg_global_mem_new_internal_arm, TYPE_32)

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

/* The word of the state that is `wanted` only while CPSR has more bits. */
static uint32_t *changed_by(struct engine *engine, uint32_t status,
			    uint32_t more, uint32_t wanted)
{
	const uint32_t changed = status | more;
	uint32_t *words = (uint32_t *)(void *)engine->state, *word = NULL;
	size_t count = found.addr / sizeof(*words);
	uint32_t before[FOUND_BEFORE / sizeof(uint32_t)];

	if (found.addr > sizeof(before))
		return NULL;
	memcpy(before, words, found.addr);
	uc_reg_write(engine->uc, UC_ARM_REG_CPSR, &changed);
	for (size_t i = 0; i < count && !word; i++)
		if (!before[i] && words[i] == wanted)
			word = &words[i];
	uc_reg_write(engine->uc, UC_ARM_REG_CPSR, &status);
	return word && !*word ? word : NULL;
}

/* Whether flags of translations have both words where jumps.h says. */
static bool are_in_flags(const struct engine *engine)
{
	uint32_t *thumb = engine->arm.thumb, *it = engine->arm.it;
	uint32_t plain = jumps_flags_arm(engine->state), changed;

	*thumb = 1;
	*it = FLAGS_IT_ARM;
	changed = jumps_flags_arm(engine->state);
	*thumb = *it = 0;
	return changed == (plain | FLAGS_THUMB_ARM | FLAGS_IT_ARM) &&
	       !(plain & (FLAGS_THUMB_ARM | FLAGS_IT_ARM));
}

const char *layout_find_arm(struct engine *engine)
{
	const char *missing;
	uint32_t status;

	if (uc_reg_read(engine->uc, UC_ARM_REG_CPSR, &status))
		return "its status";
	missing = layout_find_monitor(engine, UC_ARM_REG_CPSR, &status);
	if (missing)
		return missing;
	engine->arm.thumb = changed_by(engine, status, ARM_CPSR_THUMB, 1);
	engine->arm.it = changed_by(engine, status, CPSR_IT, FLAGS_IT_ARM);
	return engine->arm.thumb && engine->arm.it && are_in_flags(engine) ?
		       NULL : "the states of Thumb and IT";
}
