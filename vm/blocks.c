/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - decoding blocks of guest code: the count and the gate
 *
 * The gate finds what the engine would execute wrongly in silence (VEX forms,
 * privileged instructions, which it allows) and what depends on the machine.
 *
 * Source: Intel 64 SDM volume 2, chapters 2 (prefixes) and 3 to 5.
 */
#include "vm/vm_internal.h"
#include "vm/x86_length.h"

#include <stdlib.h>
#include <string.h>

/* Reads code without touching anything: the engine has just been there. */
static size_t read_code(struct vm *vm, guest_addr pc, uint8_t *bytes,
			size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct mapping *map = memory_find(vm->memory, pc + done);
		size_t span;

		if (!map)
			break;
		span = map->region.end - (pc + done);
		if (span > size - done)
			span = size - done;
		memcpy(bytes + done,
		       vm->memory->arena + mapping_arena(map, pc + done), span);
		done += span;
	}
	return done;
}

static bool is_legacy_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return false;
}

/* The opcode's first byte, behind prefixes; how many come before it. */
static const uint8_t *skip_prefixes(const uint8_t *at, const uint8_t *end,
				    bool *rep)
{
	*rep = false;
	while (at < end && is_legacy_prefix(*at)) {
		*rep |= *at == 0xf2 || *at == 0xf3;
		at++;
	}
	if (at < end && (*at & 0xf0) == 0x40)	/* REX */
		at++;
	return at;
}

/*
 * VEX, EVEX and XOP: in 64-bit mode the first bytes are nothing else, but
 * for 8f /0 (pop).
 */
static bool is_vector_extension(const uint8_t *at, const uint8_t *end)
{
	if (at >= end)
		return false;
	if (*at == 0xc4 || *at == 0xc5 || *at == 0x62)
		return true;
	return *at == 0x8f && at + 1 < end && (at[1] & 0x38);
}

/* INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS */
static bool is_string(const uint8_t *at, const uint8_t *end)
{
	if (at >= end)
		return false;
	return (*at >= 0xa4 && *at <= 0xa7) || (*at >= 0xaa && *at <= 0xaf) ||
	       (*at >= 0x6c && *at <= 0x6f);
}

enum gate {
	GATE_OPEN,
	GATE_VALUE,
	GATE_EMULATE,		/* x86_emulate() */
	GATE_PRIVILEGE,
	GATE_INVALID,
	GATE_INT,
};

/*
 * PCMPESTRM, PCMPESTRI, PCMPISTRM and PCMPISTRI in the mode "equal ordered":
 * the mode is in the last byte of the instruction, which the length of its
 * operand tells.
 */
static bool is_ordered_compare(const uint8_t *at, const uint8_t *end)
{
	unsigned mod, skip = 3;

	if (end - at < 4 || at[1] < 0x60 || at[1] > 0x63)
		return false;
	mod = at[2] >> 6;
	if (mod != 3 && (at[2] & 7) == 4) {	/* SIB */
		if (mod == 0 && (at[3] & 7) == 5)
			skip += 4;
		skip++;
	} else if (mod == 0 && (at[2] & 7) == 5) {
		skip += 4;
	}
	skip += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return at + skip < end && (at[skip] >> 2 & 3) == 3;
}

/*
 * PHADDW, PHADDD, PHADDSW, PHSUBW, PHSUBD, PHSUBSW of a register and itself:
 * the engine overwrites what it has not read yet.  Registers that differ by 8
 * are taken for the same one, which does no harm.
 */
static bool is_horizontal_of_one(const uint8_t *at, const uint8_t *end)
{
	return end - at >= 3 && at[1] >= 0x01 && at[1] <= 0x07 &&
	       at[1] != 0x04 && at[2] >= 0xc0 &&
	       (at[2] >> 3 & 7) == (at[2] & 7);
}

/* DPPS: the engine adds the products in another order. */
static bool is_dot_product(const uint8_t *at, const uint8_t *end)
{
	return end - at >= 2 && at[1] == 0x40;
}

/*
 * F2XM1, FYL2X, FPTAN, FPATAN, FXTRACT, FPREM1, FPREM, FYL2XP1, FSINCOS,
 * FSCALE, FSIN, FCOS: the second byte behind D9.
 */
static bool is_inexact_x87(uint8_t byte)
{
	return (byte >= 0xf0 && byte <= 0xf5) || byte == 0xf8 || byte == 0xf9 ||
	       byte == 0xfb || byte == 0xfd || byte == 0xfe || byte == 0xff;
}

/* `exact`: see x86_exact.h. */
static enum gate gate_two_byte(const uint8_t *at, const uint8_t *end,
			       bool exact)
{
	uint8_t modrm = at + 1 < end ? at[1] : 0;
	unsigned reg = modrm >> 3 & 7;
	bool is_memory = modrm < 0xc0;

	switch (*at) {
	case 0x31: case 0xa2:			/* RDTSC, CPUID */
		return GATE_VALUE;
	case 0x38:
		return is_horizontal_of_one(at, end) ? GATE_VALUE : GATE_OPEN;
	case 0x3a:
		return is_ordered_compare(at, end) ||
				       (!exact && is_dot_product(at, end)) ?
			       GATE_VALUE : GATE_OPEN;
	case 0x06: case 0x08: case 0x09:	/* CLTS, INVD, WBINVD */
	case 0x07: case 0x35:			/* SYSRET, SYSEXIT */
	case 0x20: case 0x21: case 0x22: case 0x23:	/* MOV CR, DR */
	case 0x30: case 0x32: case 0x33:	/* WRMSR, RDMSR, RDPMC */
	case 0x78: case 0x79:			/* VMREAD, VMWRITE */
		return GATE_PRIVILEGE;
	case 0x0b: case 0x34: case 0xb9: case 0xff: case 0x37: case 0xaa:
		return GATE_INVALID;	/* UD2, SYSENTER, UD1, UD0, GETSEC, RSM */
	case 0x00:			/* LLDT, LTR; STR, SLDT, VERR are free */
		return reg == 2 || reg == 3 ? GATE_PRIVILEGE : GATE_OPEN;
	case 0x01:
		if (is_memory)		/* LGDT, LIDT, LMSW, INVLPG */
			return reg == 2 || reg == 3 || reg == 6 || reg == 7 ?
				       GATE_PRIVILEGE : GATE_OPEN;
		if (modrm == 0xf8)	/* SWAPGS */
			return GATE_PRIVILEGE;
		return reg == 4 ? GATE_OPEN : GATE_INVALID;	/* SMSW */
	case 0xae:	/* XSAVE, XRSTOR, XSAVEOPT; RDFSBASE and its kin */
		if (is_memory)	/* LDMXCSR: see x86_mxcsr.c */
			return reg == 4 || reg == 6 ? GATE_INVALID :
			       reg == 2 && !exact ? GATE_EMULATE : GATE_OPEN;
		return reg < 4 ? GATE_INVALID : GATE_OPEN;
	case 0xc7:	/* CMPXCHG8B/16B; RDRAND, RDSEED, VMPTRLD, XSAVES */
		return is_memory && reg == 1 ? GATE_EMULATE : GATE_INVALID;
	}
	return GATE_OPEN;
}

static enum gate gate(const uint8_t *code, const uint8_t *end, bool exact)
{
	bool rep;
	const uint8_t *at = skip_prefixes(code, end, &rep);

	if (at >= end)
		return GATE_OPEN;
	if (is_vector_extension(at, end))
		return GATE_INVALID;
	switch (*at) {
	case 0xf6: case 0xf7:				/* LOCK NEG */
		if (memchr(code, 0xf0, (size_t)(at - code)) && at + 1 < end &&
		    (at[1] >> 3 & 7) == 3)
			return GATE_EMULATE;
		break;
	case 0x0f:
		return at + 1 < end ? gate_two_byte(at + 1, end, exact) :
					GATE_OPEN;
	case 0xdb: case 0xdd:				/* FISTTP */
		return !exact && at + 1 < end && at[1] < 0xc0 &&
				       (at[1] >> 3 & 7) == 1 ?
			       GATE_EMULATE : GATE_OPEN;
	case 0xd9:
		return at + 1 < end && is_inexact_x87(at[1]) ? GATE_VALUE :
							       GATE_OPEN;
	case 0x6c: case 0x6d: case 0x6e: case 0x6f:	/* INS, OUTS */
	case 0xe4: case 0xe5: case 0xe6: case 0xe7:	/* IN, OUT */
	case 0xec: case 0xed: case 0xee: case 0xef:
	case 0xf4: case 0xfa: case 0xfb:		/* HLT, CLI, STI */
		return GATE_PRIVILEGE;
	case 0xcc: case 0xcd: case 0xf1:		/* INT3, INT n, INT1 */
		return GATE_INT;
	case 0xcf:					/* IRET */
	case 0xca: case 0xcb:				/* RETF */
		return GATE_PRIVILEGE;
	case 0xff:					/* far CALL, JMP */
		if (at + 1 < end && at[1] < 0xc0 &&
		    ((at[1] >> 3 & 7) == 3 || (at[1] >> 3 & 7) == 5))
			return GATE_PRIVILEGE;
		break;
	}
	return GATE_OPEN;
}

/* Decodes the instruction at `code` into vm->insn; its length. */
static size_t decode(struct vm *vm, const uint8_t *code, size_t left,
		     guest_addr pc)
{
	const uint8_t *at = code;

	if (!cs_disasm_iter(vm->decoder, &at, &left, &pc, vm->insn))
		return 0;
	return (size_t)(at - code);
}

/*
 * The length of the instruction at `code`.  0 if the decoder does not know
 * it: the engine has translated it all the same, or refuses it itself.
 */
static size_t length(struct vm *vm, const uint8_t *code, size_t left,
		     guest_addr pc)
{
	size_t known = x86_length(code, left);

	return known ? known : decode(vm, code, left, pc);
}

static struct block *new_block(struct vm *vm)
{
	if (vm->block_count == vm->block_room) {
		uint32_t room = vm->block_room ? vm->block_room * 2 : 4096;
		struct block *more =
			realloc(vm->blocks, room * sizeof(*vm->blocks));

		if (!more)
			return NULL;
		if (!vm->block_room)
			vm->block_count = 1;	/* number 0 is no block */
		vm->blocks = more;
		vm->block_room = room;
	}
	return &vm->blocks[vm->block_count];
}

/*
 * Whether the engine ends a block behind this instruction: jumps, calls,
 * returns, system calls, repeated strings, changes of flags that it translates
 * for (POPF, STI) and of segments.
 */
static bool ends_block(const uint8_t *at, const uint8_t *end, bool rep)
{
	if (at >= end)
		return false;
	if (rep && is_string(at, end))
		return true;
	switch (*at) {
	case 0x0f:
		return at + 1 < end &&
		       ((at[1] & 0xf0) == 0x80 || at[1] == 0x05 ||
			at[1] == 0xa1 || at[1] == 0xa9 || at[1] == 0xb2 ||
			at[1] == 0xb4 || at[1] == 0xb5);
	case 0xff:
		return at + 1 < end && (at[1] >> 3 & 7) >= 2 &&
		       (at[1] >> 3 & 7) <= 5;
	case 0x8e: case 0x9d: case 0xc2: case 0xc3: case 0xe8: case 0xe9:
	case 0xeb: case 0xfb:
		return true;
	}
	return (*at & 0xf0) == 0x70 || (*at >= 0xe0 && *at <= 0xe3);
}

static void decode_last(struct block *block, const uint8_t *code,
			const uint8_t *end)
{
	bool rep;
	const uint8_t *at = skip_prefixes(code, end, &rep);

	block->ends_rep = rep && is_string(at, end);
	block->ends_block = ends_block(at, end, rep);
	block->starts_rep = block->ends_rep && block->count == 1;
	block->pauses = rep && at < end && *at == 0x90;
	block->last_size = (uint16_t)(end - code);
}

/* Also says whether an operand must be aligned. */
static uint8_t hooks(const struct vm *vm, const uint8_t *code,
		     const uint8_t *end, bool *aligned)
{
	bool rep;
	const uint8_t *opcode = skip_prefixes(code, end, &rep);

	*aligned |= align_wants(code, opcode, end);
	return (uint8_t)float_hooks(vm, opcode, end);
}

uint32_t block_decode(struct vm *vm, guest_addr pc, uint32_t size)
{
	uint8_t code[8192];
	struct block *block = new_block(vm);
	size_t at = 0, last = 0;
	bool aligned = false;

	if (!block)
		return 0;
	memset(block, 0, sizeof(*block));
	block->pc = pc;
	block->size = size;
	block->special = NO_SPECIAL;
	size = (uint32_t)read_code(vm, pc, code,
				   size < sizeof(code) ? size : sizeof(code));
	while (at < size) {
		size_t step = length(vm, code + at, size - at, pc + at);

		if (gate(code + at, code + size, vm->exact) != GATE_OPEN &&
		    block->special == NO_SPECIAL)
			block->special = block->count;
		if (!vm->ignores_exceptions)
			block->hooks |= hooks(vm, code + at, code + at + step,
					      &aligned);
		last = at;
		block->count++;
		if (!step)
			break;
		at += step;
	}
	decode_last(block, code + last, code + size);
	if (aligned)
		align_find_demands(vm, block);
	return vm->block_count++;
}

unsigned block_index_of(struct vm *vm, const struct block *block,
			guest_addr pc)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	unsigned index = 0;

	for (size_t at = 0; at < size && index < block->count; index++) {
		size_t step;

		if (block->pc + at == pc)
			return index;
		step = length(vm, code + at, size - at, block->pc + at);
		if (!step)
			break;
		at += step;
	}
	return block->count;
}

guest_addr block_address_of(struct vm *vm, const struct block *block,
			    unsigned index)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	size_t at = 0;

	while (index-- > 0 && at < size) {
		size_t step = length(vm, code + at, size - at, block->pc + at);

		if (!step)
			break;
		at += step;
	}
	return block->pc + at;
}

size_t block_code(struct vm *vm, guest_addr pc, uint8_t *code,
		  const uint8_t **opcode)
{
	size_t size = read_code(vm, pc, code, X86_INSN_MOST);
	bool rep;

	*opcode = skip_prefixes(code, code + size, &rep);
	return size;
}

void block_see(struct vm *vm, const struct block *block, block_see_fn *see,
	       void *context)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	size_t at = 0, step;

	for (unsigned i = 0; i < block->count && at < size; i++, at += step) {
		bool rep;

		step = length(vm, code + at, size - at, block->pc + at);
		if (!step)
			break;
		see(context, block->pc + at, code + at,
		    skip_prefixes(code + at, code + at + step, &rep),
		    code + at + step);
	}
}

bool block_explain(struct vm *vm, guest_addr pc, struct vm_stop *stop)
{
	uint8_t code[X86_INSN_MOST];
	size_t size = read_code(vm, pc, code, sizeof(code));
	bool rep;
	const uint8_t *at = skip_prefixes(code, code + size, &rep);

	stop->kind = VM_STOP_FAULT;
	stop->size = (unsigned)length(vm, code, size, pc);
	switch (gate(code, code + size, vm->exact)) {
	case GATE_VALUE:
		stop->kind = VM_STOP_VALUE;
		stop->value = *at == 0x0f && at[1] == 0x31 ? VALUE_TSC :
			      *at == 0x0f && at[1] == 0xa2 ? VALUE_CPUID :
							     VALUE_HOST;
		break;
	case GATE_EMULATE:
		return false;
	case GATE_PRIVILEGE:
		stop->fault = FAULT_PRIVILEGE;
		break;
	case GATE_INT:
		stop->fault = FAULT_INTERRUPT;
		stop->number = *at == 0xcd ? at[1] : *at == 0xf1 ? 1 : 3;
		if (stop->number == 3)
			stop->fault = FAULT_BREAKPOINT;
		break;
	default:
		stop->fault = FAULT_INVALID;
	}
	return true;
}

/* ------- where a fault was ------- */

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
	size_t left = read_code(vm, pc, code, sizeof(code));
	bool found = false;

	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	*length_out = (unsigned)decode(vm, code, left, pc);
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

guest_addr block_fault_address(struct vm *vm, guest_addr pc, guest_addr page)
{
	uint8_t code[X86_INSN_MOST];
	size_t size = read_code(vm, pc, code, sizeof(code));
	guest_addr found = page, rsp;

	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (decode(vm, code, size, pc)) {
		const cs_x86 *x86 = &vm->insn->detail->x86;

		for (unsigned i = 0; i < x86->op_count; i++) {
			const cs_x86_op *op = &x86->operands[i];

			if (op->type == X86_OP_MEM &&
			    vm->insn->id != X86_INS_LEA &&
			    meets(operand_address(vm, &op->mem,
						  pc + vm->insn->size),
				  op->size ? op->size : 1, page, &found))
				goto done;
		}
	}
	/* PUSH, CALL, ENTER below the stack pointer; POP, RET, LEAVE at it. */
	rsp = vm_reg(vm, X86_RSP);
	if (meets(rsp - 8, 8, page, &found) || meets(rsp, 8, page, &found))
		goto done;
	found = page;
done:
	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return found;
}
