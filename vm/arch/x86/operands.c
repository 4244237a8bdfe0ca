/* SPDX-License-Identifier: GPL-2.0-or-later */
/* operands.c - memory operands of an instruction, by the disassembler */
#include "vm/arch/x86/x86.h"

size_t x86_disassemble(struct cpu *cpu, const uint8_t *code, size_t left,
			 guest_addr pc)
{
	const uint8_t *at = code;

	if (!cs_disasm_iter(x86_of(cpu)->decoder, &at, &left, &pc, x86_of(cpu)->insn))
		return 0;
	return (size_t)(at - code);
}

static uint64_t operand_reg(struct cpu *cpu, x86_reg reg, guest_addr next)
{
	static const x86_reg names[] = {
		X86_REG_RAX, X86_REG_RBX, X86_REG_RCX, X86_REG_RDX,
		X86_REG_RSI, X86_REG_RDI, X86_REG_RBP, X86_REG_RSP,
		X86_REG_R8, X86_REG_R9, X86_REG_R10, X86_REG_R11,
		X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15,
	};
	static const x86_reg halves[] = {
		X86_REG_EAX, X86_REG_EBX, X86_REG_ECX, X86_REG_EDX,
		X86_REG_ESI, X86_REG_EDI, X86_REG_EBP, X86_REG_ESP,
		X86_REG_R8D, X86_REG_R9D, X86_REG_R10D, X86_REG_R11D,
		X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D,
	};

	if (reg == X86_REG_RIP || reg == X86_REG_EIP)
		return next;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (reg == names[i])
			return x86_read_reg(cpu, X86_RAX + i);
		if (reg == halves[i])
			return (uint32_t)x86_read_reg(cpu, X86_RAX + i);
	}
	return 0;
}

static guest_addr operand_address(struct cpu *cpu, const x86_op_mem *mem,
				  guest_addr next)
{
	guest_addr addr = (guest_addr)mem->disp;

	addr += operand_reg(cpu, mem->base, next);
	addr += operand_reg(cpu, mem->index, next) * (uint64_t)mem->scale;
	if (mem->segment == X86_REG_FS)
		addr += x86_read_reg(cpu, X86_FS_BASE);
	if (mem->segment == X86_REG_GS)
		addr += x86_read_reg(cpu, X86_GS_BASE);
	return addr;
}

/* The first byte of [addr, addr + size) on the page, if there is one. */
static bool meets(guest_addr addr, uint64_t size, guest_addr page,
		  guest_addr *at)
{
	*at = addr > page ? addr : page;
	return addr < page + GUEST_PAGE && addr + size > page;
}

bool x86_operand(struct cpu *cpu, guest_addr pc, guest_addr *addr,
		   unsigned *size, unsigned *length_out)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t left = x86_fetch(cpu, pc, code, &opcode);
	bool found = false;

	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	*length_out = (unsigned)x86_disassemble(cpu, code, left, pc);
	if (*length_out) {
		const cs_x86 *x86 = &x86_of(cpu)->insn->detail->x86;

		for (unsigned i = 0; i < x86->op_count && !found; i++) {
			found = x86->operands[i].type == X86_OP_MEM;
			*size = x86->operands[i].size;
			if (found)
				*addr = operand_address(
					cpu, &x86->operands[i].mem,
					pc + *length_out);
		}
	}
	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return found;
}

/* The memory operand of x86_of(cpu)->insn, at `pc`, that is on the page; or NULL. */
static const x86_op_mem *operand_on(struct cpu *cpu, guest_addr pc,
				    guest_addr page, guest_addr *at)
{
	const cs_x86 *x86 = &x86_of(cpu)->insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM && x86_of(cpu)->insn->id != X86_INS_LEA &&
		    meets(operand_address(cpu, &op->mem, pc + x86_of(cpu)->insn->size),
			  op->size ? op->size : 1, page, at))
			return &op->mem;
	}
	return NULL;
}

guest_addr x86_fault_address(struct cpu *cpu, guest_addr pc, guest_addr page)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size = x86_fetch(cpu, pc, code, &opcode);
	guest_addr found = page, rsp;
	bool done;

	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	done = x86_disassemble(cpu, code, size, pc) &&
	       operand_on(cpu, pc, page, &found);
	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	/* PUSH, CALL, ENTER below the stack pointer; POP, RET, LEAVE at it. */
	rsp = x86_read_reg(cpu, X86_RSP);
	if (done || meets(rsp - 8, 8, page, &found) ||
	    meets(rsp, 8, page, &found))
		return found;
	return page;
}

bool x86_fault_is_of_stack(struct cpu *cpu, guest_addr pc, guest_addr page)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size = x86_fetch(cpu, pc, code, &opcode);
	const x86_op_mem *mem = NULL;
	guest_addr found;

	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (x86_disassemble(cpu, code, size, pc))
		mem = operand_on(cpu, pc, page, &found);
	cs_option(x86_of(cpu)->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return !mem || ((mem->base == X86_REG_RSP || mem->base == X86_REG_RBP) &&
			mem->segment != X86_REG_FS &&
			mem->segment != X86_REG_GS);
}
