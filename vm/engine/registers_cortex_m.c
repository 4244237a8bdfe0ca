/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers_cortex_m.c - ARMv7-M: the engine's names of registers, its start
 *
 * What it does not name here, whoever opened it has, or finds by
 * engine_cortex_m().
 */
#include "vm/engine/engine_internal.h"

#define R(n) [CM_R0 + (n)] = UC_ARM_REG_R0 + (n)
#define D(n) [CM_D0 + (n)] = UC_ARM_REG_D0 + (n)

/* In the order of the table. */
static const int engine_regs[CM_REG_COUNT] = {
	R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10),
	R(11), R(12),
	[CM_SP] = UC_ARM_REG_SP, [CM_LR] = UC_ARM_REG_LR,
	[CM_PC] = UC_ARM_REG_PC, [CM_XPSR] = UC_ARM_REG_XPSR,
	[CM_FPSCR] = UC_ARM_REG_FPSCR,
	D(0), D(1), D(2), D(3), D(4), D(5), D(6), D(7), D(8), D(9), D(10),
	D(11), D(12), D(13), D(14), D(15),
};

/* It starts as after a reset. */
static uc_err start(struct engine *engine)
{
	(void)engine;
	return UC_ERR_OK;
}

#define XPSR_THUMB (UINT32_C(1) << 24)

/* The lowest bit says that it is Thumb code: all else is a fault. */
static guest_addr entry(struct engine *engine, guest_addr pc)
{
	uint32_t status = 0;

	uc_reg_read(engine->uc, UC_ARM_REG_XPSR, &status);
	return status & XPSR_THUMB ? pc | 1 : pc;
}

static uint64_t *hidden(struct engine *engine, unsigned reg)
{
	return reg == CM_MONITOR ? engine->arm.addr : engine->arm.value;
}

const struct engine_kind engine_kind_cortex_m = {
	.arch = ARCH_CORTEX_M,
	.uc_arch = UC_ARCH_ARM,
	.uc_mode = UC_MODE_THUMB,
	.model = UC_CPU_ARM_CORTEX_M3,
	.regs = engine_regs,
	.hidden = hidden,
	.is_narrow = true,
	.entry = entry,
	.generator = &generator_arm,
	.start = start,
	.find = layout_find_cortex_m,
};
