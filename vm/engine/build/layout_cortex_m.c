/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_cortex_m.c - where the engine keeps registers of ARMv7-M
 *
 * It answers for them only as the guest may ask at present.  Its structure is
 * that of QEMU 5.0 (CPUARMState.v7m); where it is, the masks tell, which are in
 * three places of it.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of a saved context, before the state, at most. */
#define CONTEXT_HEAD 64u

/* Each has one for the secure state behind it: other processors have that. */
struct m_state {
	uint32_t other_sp, other_ss_msp, other_ss_psp;
	uint32_t vector_base[2];
	uint32_t basepri[2], control[2], ccr[2], cfsr[2];
	uint32_t hfsr, dfsr, sfsr, mmfar[2], bfar, sfar;
	uint32_t mpu_control[2];
	uint32_t exception;
	uint32_t primask[2], faultmask[2];
};

/* svc #0x35, in both halves, and the syndrome that this has. */
#define PROBE 0xdf35df35u
#define PROBE_SYNDROME 0x44000035u

/* The only word that is another one if a register has this value. */
static uint8_t *find_word(struct engine *engine, int reg, uint32_t value,
			  uint8_t *before)
{
	size_t size = uc_context_size(engine->uc) - CONTEXT_HEAD;
	uint8_t *place = NULL;
	unsigned found = 0;

	memcpy(before, engine->state, size);
	if (uc_reg_write(engine->uc, reg, &value))
		return NULL;
	for (size_t i = 0; i + 4 <= size; i += 4) {
		if (!memcmp(before + i, engine->state + i, 4))
			continue;
		place = engine->state + i;
		found++;
	}
	uc_context_restore(engine->uc, engine->pristine);
	return found == 1 ? place : NULL;
}

static struct m_state *find_state(struct engine *engine)
{
	uint8_t *before = malloc(uc_context_size(engine->uc));
	uint8_t *basepri, *primask, *faultmask;

	if (!before)
		return NULL;
	basepri = find_word(engine, UC_ARM_REG_BASEPRI, 0x20, before);
	primask = find_word(engine, UC_ARM_REG_PRIMASK, 1, before);
	faultmask = find_word(engine, UC_ARM_REG_FAULTMASK, 1, before);
	free(before);
	if (!basepri || !primask || !faultmask ||
	    primask - basepri != offsetof(struct m_state, primask) -
				 offsetof(struct m_state, basepri) ||
	    faultmask - basepri != offsetof(struct m_state, faultmask) -
				   offsetof(struct m_state, basepri))
		return NULL;
	return (void *)(basepri - offsetof(struct m_state, basepri));
}

const char *layout_find_cortex_m(struct engine *engine)
{
	struct engine_cortex_m *own = &engine->arm.cortex_m;
	uint32_t flags = 0;
	const char *missing = layout_find_monitor(
		engine, UC_ARM_REG_APSR_NZCV, &flags);
	struct m_state *state;

	if (missing)
		return missing;
	state = find_state(engine);
	if (!state)
		return "the registers of ARMv7-M";
	*own = (struct engine_cortex_m){
		.other_sp = &state->other_sp,
		.basepri = &state->basepri[0],
		.primask = &state->primask[0],
		.faultmask = &state->faultmask[0],
		.control = &state->control[0],
		.float_control = &state->control[1],
		.exception = &state->exception,
	};
	return layout_find_exception(engine, PROBE, true, PROBE_SYNDROME);
}

const struct engine_cortex_m *engine_cortex_m(const struct engine *engine)
{
	return &engine->arm.cortex_m;
}

extern void engine_arm_rebuild_hflags_arm(uint8_t *state);

void engine_cortex_m_changed(struct engine *engine)
{
	engine_arm_rebuild_hflags_arm(engine->state);
}

void engine_align_all(struct engine *engine, bool all)
{
	engine->arm.align_all = all;
}
