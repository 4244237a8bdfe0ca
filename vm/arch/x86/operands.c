/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands.c - where operands in memory are
 *
 * What is not asked often the disassembler tells: sizes, and operands that
 * ModR/M does not name.
 */
#include "vm/arch/x86/x86.h"

#include <string.h>

size_t x86_disassemble(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc)
{
	struct x86 *x86 = x86_of(cpu);
	const uint8_t *at = code;

	return cs_disasm_iter(x86->decoder, &at, &left, &pc, x86->insn) ?
		       (size_t)(at - code) : 0;
}

/* By its number in the encoding. */
static uint64_t live_register(struct cpu *cpu, int number)
{
	uint64_t value;

	memcpy(&value, engine_x86(cpu->engine)->general + 8 * number,
	       sizeof(value));
	return value;
}

guest_addr x86_address(struct cpu *cpu, const struct operand_form *form,
		       guest_addr next)
{
	guest_addr addr = (guest_addr)(int64_t)form->displacement;

	if (form->base == OPERAND_NEXT)
		addr += next;
	else if (form->base != OPERAND_NONE)
		addr += live_register(cpu, form->base);
	if (form->index != OPERAND_NONE)
		addr += live_register(cpu, form->index) << form->shift;
	if (form->segment)
		addr += x86_read_reg(cpu, form->segment);
	return x86_wrap(cpu, addr);
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

static bool is_stack_pointer(x86_reg reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP;
}

/* Of the instruction that was disassembled, which ends before `next`. */
static guest_addr operand_address(struct cpu *cpu, const cs_x86_op *op,
				  guest_addr next)
{
	const x86_op_mem *mem = &op->mem;
	guest_addr addr = (guest_addr)mem->disp;

	/* POP has counted up what its address is computed from. */
	if (x86_of(cpu)->insn->id == X86_INS_POP &&
	    is_stack_pointer(mem->base))
		addr += op->size;
	addr += operand_reg(cpu, mem->base, next);
	addr += operand_reg(cpu, mem->index, next) * (uint64_t)mem->scale;
	if (mem->segment == X86_REG_FS)
		addr += x86_read_reg(cpu, X86_FS_BASE);
	if (mem->segment == X86_REG_GS)
		addr += x86_read_reg(cpu, X86_GS_BASE);
	return x86_wrap(cpu, addr);
}

/* The first byte of [addr, addr + size) on the page, if there is one. */
static bool meets(guest_addr addr, uint64_t size, guest_addr page,
		  guest_addr *at)
{
	bool begins = addr - page < GUEST_PAGE;

	*at = begins ? addr : page;
	return begins || page - addr < size;
}

bool x86_operand(struct cpu *cpu, const struct x86_code *code,
		 guest_addr *addr, unsigned *size)
{
	const cs_x86 *x86 = &x86_of(cpu)->insn->detail->x86;
	size_t length = x86_disassemble(cpu, code->bytes, code->insn.known,
					code->pc);

	for (unsigned i = 0; length && i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		*size = x86->operands[i].size;
		*addr = operand_address(cpu, &x86->operands[i],
					code->pc + length);
		return true;
	}
	return false;
}

/*
 * The memory operand of the instruction, at `pc`, that is on the page; or NULL.
 */
static const x86_op_mem *operand_on(struct cpu *cpu, guest_addr pc,
				    guest_addr page, guest_addr *at)
{
	const cs_x86 *x86 = &x86_of(cpu)->insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM &&
		    x86_of(cpu)->insn->id != X86_INS_LEA &&
		    meets(operand_address(cpu, op,
					  pc + x86_of(cpu)->insn->size),
			  op->size ? op->size : 1, page, at))
			return &op->mem;
	}
	return NULL;
}

guest_addr x86_fault_address(struct cpu *cpu, guest_addr pc, guest_addr page)
{
	struct x86_code code;
	guest_addr found = page, rsp = x86_read_reg(cpu, X86_RSP);
	unsigned word = x86_word(cpu);

	x86_fetch(cpu, pc, &code);
	if (x86_disassemble(cpu, code.bytes, code.insn.known, pc) &&
	    operand_on(cpu, pc, page, &found))
		return found;
	/* PUSH, CALL, ENTER below the stack pointer; POP, RET, LEAVE at it. */
	if (meets(rsp - word, word, page, &found) ||
	    meets(rsp, word, page, &found))
		return found;
	return page;
}

/* Code of 64 bits has no other segments than these two. */
static bool is_of_stack(bool is_32, const x86_op_mem *mem)
{
	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS)
		return false;
	if (is_32 && mem->segment != X86_REG_INVALID)
		return mem->segment == X86_REG_SS;
	return is_stack_pointer(mem->base) || mem->base == X86_REG_RBP ||
	       mem->base == X86_REG_EBP;
}

bool x86_fault_is_of_stack(struct cpu *cpu, guest_addr pc, guest_addr page)
{
	struct x86_code code;
	const x86_op_mem *mem = NULL;
	guest_addr found;

	x86_fetch(cpu, pc, &code);
	if (x86_disassemble(cpu, code.bytes, code.insn.known, pc))
		mem = operand_on(cpu, pc, page, &found);
	return !mem || is_of_stack(x86_is_32(cpu), mem);
}
