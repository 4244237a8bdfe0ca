/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * it_arm.c - the state of IT, of 32-bit ARM, in the middle of a translation
 *
 * A translation knows for each of its instructions whether it is in an IT
 * block, and keeps CPSR without that.  Who is called in front of one brings it
 * back for as long.  XPSR of ARMv7-M has the same bits at the same places.
 */
#include <stdbool.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

#define IT_BITS 0x0600fc00u

/* What an instruction began with, of the translation that calls from there. */
extern bool cpu_restore_state_arm(void *cpu, uintptr_t from, bool will_exit);

static uint32_t status(struct engine *engine)
{
	uint32_t value = 0;

	uc_reg_read(engine->uc, UC_ARM_REG_CPSR, &value);
	return value;
}

bool it_bring_back(struct engine *engine, const uint8_t *ret)
{
	if (engine->kind->uc_arch != UC_ARCH_ARM ||
	    !(status(engine) & ARM_CPSR_THUMB))
		return false;
	cpu_restore_state_arm(engine->cpu, (uintptr_t)ret, false);
	return status(engine) & IT_BITS;
}

void it_take_away(struct engine *engine)
{
	int reg = engine->kind == &engine_kind_cortex_m ? UC_ARM_REG_XPSR :
							  UC_ARM_REG_CPSR;
	uint32_t value = 0;

	uc_reg_read(engine->uc, reg, &value);
	value &= ~IT_BITS;
	uc_reg_write(engine->uc, reg, &value);
}
