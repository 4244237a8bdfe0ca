/* SPDX-License-Identifier: GPL-2.0-or-later */
/* operands.c - memory operands of an instruction, by the disassembler */
#include "vm/vm_internal.h"
#include "vm/arch/x86/length.h"

size_t block_decode_insn(struct vm *vm, const uint8_t *code, size_t left,
			 guest_addr pc)
{
	const uint8_t *at = code;

	if (!cs_disasm_iter(vm->decoder, &at, &left, &pc, vm->insn))
		return 0;
	return (size_t)(at - code);
}

static uint64_t operand_reg(struct vm *vm, x86_reg reg, guest_addr next)
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
			return vm_reg(vm, X86_RAX + i);
		if (reg == halves[i])
			return (uint32_t)vm_reg(vm, X86_RAX + i);
	}
	return 0;
}

static guest_addr operand_address(struct vm *vm, const x86_op_mem *mem,
				  guest_addr next)
{
	guest_addr addr = (guest_addr)mem->disp;

	addr += operand_reg(vm, mem->base, next);
	addr += operand_reg(vm, mem->index, next) * (uint64_t)mem->scale;
	if (mem->segment == X86_REG_FS)
		addr += vm_reg(vm, X86_FS_BASE);
	if (mem->segment == X86_REG_GS)
		addr += vm_reg(vm, X86_GS_BASE);
	return addr;
}

/* The first byte of [addr, addr + size) on the page, if there is one. */
static bool meets(guest_addr addr, uint64_t size, guest_addr page,
		  guest_addr *at)
{
	*at = addr > page ? addr : page;
	return addr < page + GUEST_PAGE && addr + size > page;
}

bool block_operand(struct vm *vm, guest_addr pc, guest_addr *addr,
		   unsigned *size, unsigned *length_out)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t left = block_code(vm, pc, code, &opcode);
	bool found = false;

	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	*length_out = (unsigned)block_decode_insn(vm, code, left, pc);
	if (*length_out) {
		const cs_x86 *x86 = &vm->insn->detail->x86;

		for (unsigned i = 0; i < x86->op_count && !found; i++) {
			found = x86->operands[i].type == X86_OP_MEM;
			*size = x86->operands[i].size;
			if (found)
				*addr = operand_address(
					vm, &x86->operands[i].mem,
					pc + *length_out);
		}
	}
	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return found;
}

/* The memory operand of vm->insn, at `pc`, that is on the page; or NULL. */
static const x86_op_mem *operand_on(struct vm *vm, guest_addr pc,
				    guest_addr page, guest_addr *at)
{
	const cs_x86 *x86 = &vm->insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM && vm->insn->id != X86_INS_LEA &&
		    meets(operand_address(vm, &op->mem, pc + vm->insn->size),
			  op->size ? op->size : 1, page, at))
			return &op->mem;
	}
	return NULL;
}

guest_addr block_fault_address(struct vm *vm, guest_addr pc, guest_addr page)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size = block_code(vm, pc, code, &opcode);
	guest_addr found = page, rsp;
	bool done;

	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	done = block_decode_insn(vm, code, size, pc) &&
	       operand_on(vm, pc, page, &found);
	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	/* PUSH, CALL, ENTER below the stack pointer; POP, RET, LEAVE at it. */
	rsp = vm_reg(vm, X86_RSP);
	if (done || meets(rsp - 8, 8, page, &found) ||
	    meets(rsp, 8, page, &found))
		return found;
	return page;
}

bool block_fault_is_of_stack(struct vm *vm, guest_addr pc, guest_addr page)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size = block_code(vm, pc, code, &opcode);
	const x86_op_mem *mem = NULL;
	guest_addr found;

	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (block_decode_insn(vm, code, size, pc))
		mem = operand_on(vm, pc, page, &found);
	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return !mem || ((mem->base == X86_REG_RSP || mem->base == X86_REG_RBP) &&
			mem->segment != X86_REG_FS &&
			mem->segment != X86_REG_GS);
}
