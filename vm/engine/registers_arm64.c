/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers_arm64.c - AArch64: the engine's names of registers, and the start
 *
 * A program runs at EL0, so that what it may not do is an exception.  A machine
 * starts at EL1, and has no other state and no level above.
 *
 * Source: Arm Architecture Reference Manual, D19.2 (system registers); Linux,
 * arch/arm64/mm/proc.S, for what it lets programs do.
 */
#include "vm/engine/engine_internal.h"

#define X(n) [ARM64_X0 + (n)] = UC_ARM64_REG_X0 + (n)
#define V(n) [ARM64_V0 + (n)] = UC_ARM64_REG_V0 + (n)

/* Of the system: by their encoding. */
#define NAMED(op0, op1, crn, crm, op2)                                         \
	(-(int)ENGINE_SYSTEM(op0, op1, crn, crm, op2))

/* In the order of the table; those that a board has itself are not here. */
static const int engine_regs[ARM64_CNTV_CTL] = {
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
	[ARM64_SP_EL0] = UC_ARM64_REG_SP_EL0,
	[ARM64_SP_EL1] = UC_ARM64_REG_SP_EL1,
	[ARM64_ELR] = NAMED(3, 0, 4, 0, 1), [ARM64_SPSR] = NAMED(3, 0, 4, 0, 0),
	[ARM64_ESR] = NAMED(3, 0, 5, 2, 0), [ARM64_FAR] = NAMED(3, 0, 6, 0, 0),
	[ARM64_VBAR] = NAMED(3, 0, 12, 0, 0),
	[ARM64_SCTLR] = NAMED(3, 0, 1, 0, 0),
	[ARM64_ACTLR] = NAMED(3, 0, 1, 0, 1),
	[ARM64_CPACR] = NAMED(3, 0, 1, 0, 2),
	[ARM64_TTBR0] = NAMED(3, 0, 2, 0, 0),
	[ARM64_TTBR1] = NAMED(3, 0, 2, 0, 1),
	[ARM64_TCR] = NAMED(3, 0, 2, 0, 2),
	[ARM64_MAIR] = NAMED(3, 0, 10, 2, 0),
	[ARM64_AMAIR] = NAMED(3, 0, 10, 3, 0),
	[ARM64_PAR] = NAMED(3, 0, 7, 4, 0),
	[ARM64_AFSR0] = NAMED(3, 0, 5, 1, 0),
	[ARM64_AFSR1] = NAMED(3, 0, 5, 1, 1),
	[ARM64_CONTEXTIDR] = NAMED(3, 0, 13, 0, 1),
	[ARM64_TPIDRRO] = NAMED(3, 3, 13, 0, 3),
	[ARM64_TPIDR_EL1] = NAMED(3, 0, 13, 0, 4),
	[ARM64_CSSELR] = NAMED(3, 2, 0, 0, 0),
	[ARM64_MDSCR] = NAMED(2, 0, 0, 2, 2),
	[ARM64_PMUSERENR] = NAMED(3, 3, 9, 14, 0),
	[ARM64_PMCR] = NAMED(3, 3, 9, 12, 0),
	[ARM64_PMSELR] = NAMED(3, 3, 9, 12, 5),
	[ARM64_CNTKCTL] = NAMED(3, 0, 14, 1, 0),
};

/* Bits of SCTLR_EL1: UCI, nTWE, nTWI, UCT, DZE. */
#define SCTLR_PROGRAMS UINT64_C(0x405c000)
#define CPACR_FLOAT (UINT64_C(3) << 20)		/* FPEN */
#define TCR_TAGS (UINT64_C(1) << 37)		/* TBI0: tagged addresses */

/*
 * Without them, EL1 would be of 32 bits and secure.  SCR_EL3: NS, HCE, RW and
 * what is always 1; HCR_EL2: RW.
 */
#define SCR_MACHINE UINT64_C(0x531)
#define HCR_MACHINE (UINT64_C(1) << 31)
#define PSTATE_START UINT64_C(0x3c5)	/* EL1h, all masked */

static uc_err start_machine(struct engine *engine)
{
	const uint64_t level = PSTATE_START;
	uc_err err = engine_write_system(engine, ENGINE_SYSTEM(3, 6, 1, 1, 0),
					 SCR_MACHINE);

	if (!err)
		err = engine_write_system(engine, ENGINE_SYSTEM(3, 4, 1, 1, 0),
					  HCR_MACHINE);
	return err ? err : uc_reg_write(engine->uc, UC_ARM64_REG_PSTATE, &level);
}

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

const struct engine_kind engine_kind_arm64_machine = {
	.arch = ARCH_AARCH64_MACHINE,
	.uc_arch = UC_ARCH_ARM64,
	.uc_mode = UC_MODE_ARM,
	.model = UC_CPU_ARM64_A53,
	.regs = engine_regs,
	.hidden = hidden,
	.generator = &generator_arm64,
	.start = start_machine,
	.find = layout_find_arm64_machine,
};
