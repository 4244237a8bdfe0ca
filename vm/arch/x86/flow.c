/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.c - which registers an instruction computes from which
 *
 * Flags are not followed, nor what an address is computed from; the stack
 * pointer holds no values.
 *
 * Source: Intel 64 SDM volume 2 (instruction set reference).
 */
#include "vm/arch/x86/x86.h"


#define FAMILY(number, whole, half, quarter, low)                            \
	[X86_REG_##whole] = (number) + 1, [X86_REG_##half] = (number) + 1,    \
	[X86_REG_##quarter] = (number) + 1, [X86_REG_##low] = (number) + 1

/* One more than the number of the bit of a register, whatever part it is. */
static const uint8_t families[X86_REG_ENDING] = {
	FAMILY(X86_RAX, RAX, EAX, AX, AL), [X86_REG_AH] = X86_RAX + 1,
	FAMILY(X86_RBX, RBX, EBX, BX, BL), [X86_REG_BH] = X86_RBX + 1,
	FAMILY(X86_RCX, RCX, ECX, CX, CL), [X86_REG_CH] = X86_RCX + 1,
	FAMILY(X86_RDX, RDX, EDX, DX, DL), [X86_REG_DH] = X86_RDX + 1,
	FAMILY(X86_RSI, RSI, ESI, SI, SIL), FAMILY(X86_RDI, RDI, EDI, DI, DIL),
	FAMILY(X86_RBP, RBP, EBP, BP, BPL), FAMILY(X86_R8, R8, R8D, R8W, R8B),
	FAMILY(X86_R9, R9, R9D, R9W, R9B),
	FAMILY(X86_R10, R10, R10D, R10W, R10B),
	FAMILY(X86_R11, R11, R11D, R11W, R11B),
	FAMILY(X86_R12, R12, R12D, R12W, R12B),
	FAMILY(X86_R13, R13, R13D, R13W, R13B),
	FAMILY(X86_R14, R14, R14D, R14W, R14B),
	FAMILY(X86_R15, R15, R15D, R15W, R15B),
};

static bool is_high(unsigned reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH ||
	       reg == X86_REG_DH;
}

static uint64_t bit_of(unsigned reg)
{
	if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM15)
		return UINT64_C(1) << (VM_FLOW_VECTORS + reg - X86_REG_XMM0);
	if (reg >= X86_REG_ENDING || !families[reg])
		return 0;
	return UINT64_C(1) << (families[reg] - 1);
}

/* What does not depend on what is read: XOR of a register with itself. */
static bool is_constant(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_XOR:
	case X86_INS_SUB:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
		return x86->op_count == 2 &&
		       x86->operands[0].type == X86_OP_REG &&
		       x86->operands[1].type == X86_OP_REG &&
		       x86->operands[0].reg == x86->operands[1].reg;
	}
	return false;
}

static bool is_low(unsigned reg)
{
	return reg == X86_REG_AL || reg == X86_REG_BL || reg == X86_REG_CL ||
	       reg == X86_REG_DL;
}

static void add_write(struct vm_flow *flow, unsigned reg)
{
	uint64_t bit = bit_of(reg);

	flow->writes |= bit;
	flow->low |= is_low(reg) ? bit : 0;
	flow->high |= is_high(reg) ? bit : 0;
}

static void add_operand(struct vm_flow *flow, const cs_x86_op *operand)
{
	uint64_t bit = bit_of(operand->reg);

	if (operand->access & CS_AC_READ)
		flow->reads |= bit;
	if (!(operand->access & CS_AC_WRITE))
		return;
	add_write(flow, operand->reg);
	/* The rest of a register stays if less than its half is written. */
	if (operand->size < 4)
		flow->reads |= bit;
}

static struct vm_flow flow_of(const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;
	struct vm_flow flow = { 0 };

	for (unsigned i = 0; i < detail->regs_read_count; i++)
		flow.reads |= bit_of(detail->regs_read[i]);
	for (unsigned i = 0; i < detail->regs_write_count; i++)
		add_write(&flow, detail->regs_write[i]);
	for (unsigned i = 0; i < detail->x86.op_count; i++) {
		const cs_x86_op *operand = &detail->x86.operands[i];

		if (operand->type == X86_OP_REG)
			add_operand(&flow, operand);
		else if (insn->id == X86_INS_LEA && operand->type == X86_OP_MEM)
			flow.reads |= bit_of(operand->mem.base) |
				      bit_of(operand->mem.index);
	}
	if (is_constant(insn))
		flow.reads = 0;
	if (insn->id == X86_INS_INT)
		flow.writes |= bit_of(X86_REG_EAX);
	if (insn->id == X86_INS_SYSCALL)
		flow.writes |= bit_of(X86_REG_RAX) | bit_of(X86_REG_RCX) |
			       bit_of(X86_REG_R11);
	return flow;
}

struct vm_flow x86_flow(struct cpu *cpu, guest_addr pc)
{
	/* What cannot be decoded is followed no further. */
	struct vm_flow flow = { .writes = UINT64_MAX };
	struct x86_code code;

	x86_fetch(cpu, pc, &code);
	if (x86_disassemble(cpu, code.bytes, code.insn.known, pc))
		flow = flow_of(x86_of(cpu)->insn);
	return flow;
}
