/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers_arm64.c - AArch64: the engine's names of registers, and the start
 *
 * A program runs at EL0, so that what it may not do is an exception.
 *
 * Source: Arm Architecture Reference Manual, D19.2 (system registers); Linux,
 * arch/arm64/mm/proc.S, for what it lets programs do.
 */
#include "vm/engine/engine_internal.h"

#define X(n) [ARM64_X0 + (n)] = UC_ARM64_REG_X0 + (n)
#define V(n) [ARM64_V0 + (n)] = UC_ARM64_REG_V0 + (n)

/* In the order of the table. */
static const int engine_regs[ARM64_REG_COUNT] = {
	X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10),
	X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20),
	X(21), X(22), X(23), X(24), X(25), X(26), X(27), X(28),
	[ARM64_X29] = UC_ARM64_REG_X29, [ARM64_X30] = UC_ARM64_REG_X30,
	[ARM64_SP] = UC_ARM64_REG_SP, [ARM64_PC] = UC_ARM64_REG_PC,
	[ARM64_CPSR] = UC_ARM64_REG_PSTATE,
	[ARM64_TPIDR] = UC_ARM64_REG_TPIDR_EL0,
	[ARM64_FPSR] = UC_ARM64_REG_FPSR, [ARM64_FPCR] = UC_ARM64_REG_FPCR,
	V(0), V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9), V(10),
	V(11), V(12), V(13), V(14), V(15), V(16), V(17), V(18), V(19), V(20),
	V(21), V(22), V(23), V(24), V(25), V(26), V(27), V(28), V(29), V(30),
	V(31),
};

/* Bits of SCTLR_EL1: UCI, nTWE, nTWI, UCT, DZE. */
#define SCTLR_PROGRAMS UINT64_C(0x405c000)
#define CPACR_FLOAT (UINT64_C(3) << 20)		/* FPEN */
#define TCR_TAGS (UINT64_C(1) << 37)		/* TBI0: tagged addresses */

static uc_err set(struct engine *engine, uint32_t crn, uint32_t op2,
		  uint64_t bits)
{
	uc_arm64_cp_reg reg = { .op0 = 3, .crn = crn, .op2 = op2 };
	uc_err err = uc_reg_read(engine->uc, UC_ARM64_REG_CP_REG, &reg);

	reg.val |= bits;
	return err ? err : uc_reg_write(engine->uc, UC_ARM64_REG_CP_REG, &reg);
}

static uc_err start(struct engine *engine)
{
	const uint32_t program = 0;	/* EL0, nothing masked */
	uc_err err;

	err = uc_reg_write(engine->uc, UC_ARM64_REG_PSTATE, &program);
	if (!err)
		err = set(engine, 2, 2, TCR_TAGS);
	if (!err)
		err = set(engine, 1, 0, SCTLR_PROGRAMS);
	return err ? err : set(engine, 1, 2, CPACR_FLOAT);
}

static uint64_t *hidden(struct engine *engine, unsigned reg)
{
	switch (reg) {
	case ARM64_MONITOR:
		return engine->arm.addr;
	case ARM64_MARKED:
		return engine->arm.value;
	default:
		return engine->arm.high;
	}
}

#define EXCEPTION_SVC 2		/* of the engine's (QEMU: EXCP_SWI) */

const struct engine_kind engine_kind_arm64 = {
	.arch = ARCH_AARCH64,
	.uc_arch = UC_ARCH_ARM64,
	.uc_mode = UC_MODE_ARM,
	.model = UC_CPU_ARM64_A72,
	.regs = engine_regs,
	.hidden = hidden,
	.tag_bits = 8,
	.never = ENGINE_NEVER,
	.syscall_exception = EXCEPTION_SVC,
	.generator = &generator_arm64,
	.start = start,
	.find = layout_find_arm64,
};
