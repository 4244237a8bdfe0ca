/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.c - which registers an instruction computes from which
 *
 * Flags are not followed, nor what an address is computed from; the stack
 * pointer holds no values.
 *
 * Source: Arm Architecture Reference Manual, C6 and C7 (instructions).
 */
#include "vm/arch/arm64/arm64.h"

static uint64_t general(unsigned number)
{
	return UINT64_C(1) << number;
}

static uint64_t vector(unsigned number)
{
	return UINT64_C(1) << (VM_FLOW_VECTORS + number);
}

/* Whatever part of it is named. */
static uint64_t bit_of(unsigned reg)
{
	static const struct {
		unsigned first, last;
	} vectors[] = {
		{ ARM64_REG_B0, ARM64_REG_B31 },
		{ ARM64_REG_H0, ARM64_REG_H31 },
		{ ARM64_REG_S0, ARM64_REG_S31 },
		{ ARM64_REG_D0, ARM64_REG_D31 },
		{ ARM64_REG_Q0, ARM64_REG_Q31 },
		{ ARM64_REG_V0, ARM64_REG_V31 },
	};

	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return general(reg - ARM64_REG_X0);
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return general(reg - ARM64_REG_W0);
	if (reg == ARM64_REG_X29 || reg == ARM64_REG_X30)
		return general(reg == ARM64_REG_X29 ? 29 : 30);
	for (unsigned i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		if (reg >= vectors[i].first && reg <= vectors[i].last)
			return vector(reg - vectors[i].first);
	return 0;
}

/* Whether bits of its result stay as they were. */
static bool keeps_bits(const cs_insn *insn)
{
	switch (insn->id) {
	case ARM64_INS_MOVK:
	case ARM64_INS_BFI:
	case ARM64_INS_BFM:
	case ARM64_INS_BFXIL:
		return true;
	}
	return false;
}

/* The decoder says that these write what they compare. */
static bool compares(const cs_insn *insn)
{
	return insn->id == ARM64_INS_CMP || insn->id == ARM64_INS_CMN ||
	       insn->id == ARM64_INS_TST;
}

static void add_operand(struct vm_flow *flow, const cs_insn *insn,
			const cs_arm64_op *operand)
{
	uint64_t bit = bit_of(operand->reg);
	bool writes = operand->access & CS_AC_WRITE && !compares(insn);
	bool is_vector = bit >> VM_FLOW_VECTORS;

	if (writes)
		flow->writes |= bit;
	if (operand->access & CS_AC_READ &&
	    (!writes || is_vector || keeps_bits(insn)))
		flow->reads |= bit;
}

static struct vm_flow flow_of(const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;
	struct vm_flow flow = { 0 };

	for (unsigned i = 0; i < detail->regs_write_count; i++)
		flow.writes |= bit_of(detail->regs_write[i]);
	for (unsigned i = 0; i < detail->arm64.op_count; i++)
		if (detail->arm64.operands[i].type == ARM64_OP_REG)
			add_operand(&flow, insn, &detail->arm64.operands[i]);
	if (insn->id == ARM64_INS_SVC)
		flow.writes |= general(0);
	return flow;
}

struct vm_flow arm64_flow(struct cpu *cpu, guest_addr pc)
{
	const cs_insn *insn = arm64_known(cpu, pc);

	/* What cannot be decoded is followed no further. */
	return insn ? flow_of(insn) : (struct vm_flow){ .writes = UINT64_MAX };
}
