/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers_arm.c - 32-bit ARM: the engine's names of registers, and the start
 *
 * A program runs in user mode, so that what it may not do is an exception.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, B1.3.3 (CPSR), B4.1.40
 * (CPACR), B4.1.58 (FPEXC).
 */
#include "vm/engine/engine_internal.h"

#define R(n) [ARM_R0 + (n)] = UC_ARM_REG_R0 + (n)
#define D(n) [ARM_D0 + (n)] = UC_ARM_REG_D0 + (n)

/* In the order of the table. */
static const int engine_regs[ARM_REG_COUNT] = {
	R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10),
	R(11), R(12),
	[ARM_SP] = UC_ARM_REG_SP, [ARM_LR] = UC_ARM_REG_LR,
	[ARM_PC] = UC_ARM_REG_PC, [ARM_CPSR] = UC_ARM_REG_CPSR,
	[ARM_TPIDRURO] = UC_ARM_REG_C13_C0_3,
	[ARM_TPIDRURW] = UC_ARM_REG_C13_C0_2,
	[ARM_FPSCR] = UC_ARM_REG_FPSCR,
	D(0), D(1), D(2), D(3), D(4), D(5), D(6), D(7), D(8), D(9), D(10),
	D(11), D(12), D(13), D(14), D(15), D(16), D(17), D(18), D(19), D(20),
	D(21), D(22), D(23), D(24), D(25), D(26), D(27), D(28), D(29), D(30),
	D(31),
};

#define CPACR_FLOAT (UINT32_C(15) << 20)	/* cp10, cp11 */
#define FPEXC_ENABLED (UINT32_C(1) << 30)
#define CPSR_USER UINT32_C(0x10)

static uc_err start(struct engine *engine)
{
	const uint32_t enabled = FPEXC_ENABLED, user = CPSR_USER;
	uc_arm_cp_reg access = {
		.cp = 15, .crn = 1, .opc2 = 2, .val = CPACR_FLOAT,
	};
	uc_err err = uc_reg_write(engine->uc, UC_ARM_REG_CP_REG, &access);

	if (!err)
		err = uc_reg_write(engine->uc, UC_ARM_REG_FPEXC, &enabled);
	return err ? err : uc_reg_write(engine->uc, UC_ARM_REG_CPSR, &user);
}

/* The lowest bit says that it is Thumb code. */
static guest_addr entry(struct engine *engine, guest_addr pc)
{
	uint32_t status = 0;

	uc_reg_read(engine->uc, UC_ARM_REG_CPSR, &status);
	return status & ARM_CPSR_THUMB ? pc | 1 : pc;
}

static uint64_t *hidden(struct engine *engine, unsigned reg)
{
	return reg == ARM_MONITOR ? engine->arm.addr : engine->arm.value;
}

#define EXCEPTION_SVC 2		/* of the engine's (QEMU: EXCP_SWI) */

/* Above all that a program can have, and nowhere near what jumps that went
 * astray lead to. */
#define NEVER UINT64_C(0xd3a5e000)

const struct engine_kind engine_kind_arm = {
	.arch = ARCH_ARM,
	.uc_arch = UC_ARCH_ARM,
	.uc_mode = UC_MODE_ARM,
	.model = UC_CPU_ARM_CORTEX_A15,
	.regs = engine_regs,
	.hidden = hidden,
	.is_narrow = true,
	.never = NEVER,
	.entry = entry,
	.syscall_exception = EXCEPTION_SVC,
	.generator = &generator_arm,
	.start = start,
	.find = layout_find_arm,
};
