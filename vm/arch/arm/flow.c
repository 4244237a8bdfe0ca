/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.c - which registers an instruction computes from which
 *
 * Flags are not followed, nor what an address is computed from; the stack
 * pointer holds no values.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, A8 (instructions).
 */
#include "vm/arch/arm/arm.h"
#include "vm/arch/arm/guest.h"

static uint64_t vectors(unsigned first, unsigned count)
{
	return ((UINT64_C(1) << count) - 1) << (VM_FLOW_VECTORS + first);
}

/* In the numbers of registers that are not in a row. */
static uint64_t general_of(unsigned reg)
{
	if (reg >= ARM_REG_R0 && reg <= ARM_REG_R12)
		return UINT64_C(1) << (reg - ARM_REG_R0);
	return reg == ARM_REG_LR ? UINT64_C(1) << 14 : 0;
}

/* Vectors by their halves of 8 bytes, whatever part is named. */
static uint64_t bits_of(unsigned reg)
{
	if (reg >= ARM_REG_D0 && reg <= ARM_REG_D31)
		return vectors(reg - ARM_REG_D0, 1);
	if (reg >= ARM_REG_Q0 && reg <= ARM_REG_Q15)
		return vectors(2 * (reg - ARM_REG_Q0), 2);
	if (reg >= ARM_REG_S0 && reg <= ARM_REG_S31)
		return vectors((reg - ARM_REG_S0) / 2, 1);
	return general_of(reg);
}

/* What the decoder does not tell of lists of registers. */
static uint8_t access_of(const cs_insn *insn, unsigned index,
			 const cs_arm_op *operand)
{
	switch (insn->id) {
	case ARM_INS_VPUSH:
	case ARM_INS_PUSH:
		return CS_AC_READ;
	case ARM_INS_VPOP:
		return CS_AC_WRITE;
	case ARM_INS_VLDMIA:
	case ARM_INS_VLDMDB:
		return index ? CS_AC_WRITE : 0;
	case ARM_INS_VSTMIA:
	case ARM_INS_VSTMDB:
		return index ? CS_AC_READ : 0;
	case ARM_INS_LDM:
	case ARM_INS_LDMDA:
	case ARM_INS_LDMDB:
	case ARM_INS_LDMIB:
	case ARM_INS_STM:
	case ARM_INS_STMDA:
	case ARM_INS_STMDB:
	case ARM_INS_STMIB:
		return index ? operand->access : 0;
	default:
		return operand->access;
	}
}

static struct vm_flow flow_of(const cs_insn *insn)
{
	const cs_arm *arm = &insn->detail->arm;
	struct vm_flow flow = { 0 };

	for (unsigned i = 0; i < arm->op_count; i++) {
		const cs_arm_op *operand = &arm->operands[i];
		uint8_t access = access_of(insn, i, operand);

		if (operand->type != ARM_OP_REG)
			continue;
		if (access & CS_AC_READ)
			flow.reads |= bits_of(operand->reg);
		if (access & CS_AC_WRITE)
			flow.writes |= bits_of(operand->reg);
	}
	if (insn->id == ARM_INS_BL || insn->id == ARM_INS_BLX)
		flow.writes |= general_of(ARM_REG_LR);
	if (insn->id == ARM_INS_SVC)
		flow.writes |= general_of(ARM_REG_R0);
	return flow;
}

struct vm_flow arm_flow(struct cpu *cpu, guest_addr pc)
{
	const struct arm_code code = arm_fetch(cpu, pc);
	const cs_insn *insn;

	if (code.size && !arm_is_met(cpu, &code))
		return (struct vm_flow){ 0 };
	/* What cannot be decoded is followed no further. */
	insn = arm_known(cpu, pc);
	return insn ? flow_of(insn) : (struct vm_flow){ .writes = UINT64_MAX };
}
