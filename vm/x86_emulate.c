/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_emulate.c - instructions that the engine executes wrongly
 *
 * CMPXCHG8B and CMPXCHG16B: it computes the flags beside ZF from a stale
 * state.  LOCK NEG: it computes the flags from the old value.  For recordings
 * of formats before version 5 only, LDMXCSR: it forgets a bit (x86_mxcsr.c), and
 * FISTTP: it stores the largest number for what does not fit.
 *
 * Source: Intel 64 SDM volume 2, CMPXCHG8B/CMPXCHG16B, NEG, LDMXCSR, FISTTP;
 * volume 1, 3.4.3, 4.2.2, 8.1, 10.2.3.
 */
#include "vm/plan.h"

#include <string.h>

#include "vm/x86_length.h"

enum {
	FLAG_CF = 1 << 0,
	FLAG_PF = 1 << 2,
	FLAG_AF = 1 << 4,
	FLAG_ZF = 1 << 6,
	FLAG_SF = 1 << 7,
	FLAG_OF = 1 << 11,
};

/* The memory operand of the instruction. */
struct operand {
	guest_addr addr;
	unsigned size;
	uint8_t bytes[16];
};

bool x86_operand_faults(struct vm *vm, guest_addr addr, unsigned size,
			enum vm_access access, struct vm_stop *stop)
{
	unsigned need = access == ACCESS_WRITE ? MAY_WRITE :
			MAY_READ | MAY_WRITE | MAY_EXEC;
	const struct region *region = NULL;
	guest_addr end = addr + size;

	for (; addr < end; addr++) {
		region = memory_region_at(vm->memory, addr);
		if (!region || !(region->prot & need))
			break;
	}
	if (addr == end)
		return false;
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_MEMORY;
	stop->access = access;
	stop->addr = addr;
	stop->mapped = region != NULL;
	return true;
}

/* If the memory is as expected it gets a new value, else it is returned. */
static void compare_exchange(struct vm *vm, struct operand *operand)
{
	size_t half = operand->size / 2;
	uint64_t found[2] = { 0 }, wanted[2] = { 0 };
	uint64_t rax = vm_reg(vm, X86_RAX), rdx = vm_reg(vm, X86_RDX);
	uint64_t rbx = vm_reg(vm, X86_RBX), rcx = vm_reg(vm, X86_RCX);
	uint64_t flags = vm_reg(vm, X86_RFLAGS) & ~(uint64_t)FLAG_ZF;

	memcpy(&found[0], operand->bytes, half);
	memcpy(&found[1], operand->bytes + half, half);
	memcpy(&wanted[0], &rax, half);
	memcpy(&wanted[1], &rdx, half);
	if (found[0] == wanted[0] && found[1] == wanted[1]) {
		memcpy(operand->bytes, &rbx, half);
		memcpy(operand->bytes + half, &rcx, half);
		flags |= FLAG_ZF;
	} else {
		vm_set_reg(vm, X86_RAX, found[0]);
		vm_set_reg(vm, X86_RDX, found[1]);
	}
	vm_set_reg(vm, X86_RFLAGS, flags);
}

static void negate(struct vm *vm, struct operand *operand)
{
	const uint64_t all = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF |
			     FLAG_OF;
	uint64_t flags = vm_reg(vm, X86_RFLAGS) & ~all;
	uint64_t sign = UINT64_C(1) << (operand->size * 8 - 1);
	uint64_t old = 0, value;

	memcpy(&old, operand->bytes, operand->size);
	value = (0 - old) & (sign | (sign - 1));
	memcpy(operand->bytes, &value, operand->size);
	flags |= old ? FLAG_CF : FLAG_ZF;
	flags |= value & sign ? FLAG_SF : 0;
	flags |= old == sign ? FLAG_OF : 0;
	flags |= old & 0xf ? FLAG_AF : 0;
	flags |= __builtin_parity((unsigned)value & 0xff) ? 0 : FLAG_PF;
	vm_set_reg(vm, X86_RFLAGS, flags);
}

/* False if a bit is set that must not be. */
static bool load_mxcsr(struct vm *vm, const struct operand *operand)
{
	uint32_t value;

	memcpy(&value, operand->bytes, sizeof(value));
	if (value >> 16)
		return false;
	vm_set_reg(vm, X86_MXCSR, value);
	if (trap_unmasks(value, (uint16_t)vm_reg(vm, X86_FPCW)))
		float_watch_math(vm);
	return true;
}

/* Of the status word. */
enum { STATUS_INVALID = 1, STATUS_INEXACT = 0x20, STATUS_STACK = 0x40 };

/*
 * What FISTTP makes of an 80-bit number; what does not fit is the smallest.
 * `*status` gets the flag that it raises.
 */
static uint64_t truncated(const uint8_t number[10], unsigned size,
			  uint64_t *status)
{
	const int bias = 16383, bits = (int)size * 8;
	const uint64_t smallest = UINT64_C(1) << (bits - 1);
	uint64_t mantissa, value;
	uint16_t head;
	int exponent;
	bool fits;

	memcpy(&mantissa, number, 8);
	memcpy(&head, number + 8, 2);
	exponent = (head & 0x7fff) - bias;
	if (exponent < 0) {
		*status |= mantissa ? STATUS_INEXACT : 0;
		return 0;
	}
	value = exponent < bits ? mantissa >> (63 - exponent) : 0;
	fits = exponent < bits - 1 ||
	       (exponent == bits - 1 && head >> 15 && value == smallest);
	if (!fits || !(mantissa >> 63)) {
		*status |= STATUS_INVALID;
		return smallest;
	}
	if (value << (63 - exponent) != mantissa)
		*status |= STATUS_INEXACT;
	return head >> 15 ? 0 - value : value;
}

#define STATUS_TOP 11	/* where the number of the stack's top begins */

static void store_truncated(struct vm *vm, struct operand *operand)
{
	uint64_t status = vm_reg(vm, X86_FPSW), tags = vm_reg(vm, X86_FPTAG);
	unsigned top = status >> STATUS_TOP & 7;
	struct reg_file regs;
	uint64_t value = UINT64_C(1) << (operand->size * 8 - 1);

	vm_registers(vm, &regs);
	if ((tags >> (2 * top) & 3) != 3)	/* it is not empty */
		value = truncated(regs.bytes +
					  vm->regs->regs[X86_ST0].offset,
				  operand->size, &status);
	else
		status |= STATUS_INVALID | STATUS_STACK;
	memcpy(operand->bytes, &value, operand->size);
	vm_set_reg(vm, X86_FPTAG, tags | UINT64_C(3) << (2 * top));
	vm_set_reg(vm, X86_FPSW, (status & ~(UINT64_C(7) << STATUS_TOP)) |
				 ((top + 1) & 7) << STATUS_TOP);
}

/* The operand is loaded, and is written back unless it is only read. */
static bool perform(struct vm *vm, struct operand *operand)
{
	switch (vm->insn->id) {
	case X86_INS_LDMXCSR:
		return load_mxcsr(vm, operand);
	case X86_INS_FISTTP:
		store_truncated(vm, operand);
		break;
	case X86_INS_NEG:
		negate(vm, operand);
		break;
	default:
		compare_exchange(vm, operand);
	}
	watch_operand(vm, operand->addr, operand->bytes, operand->size);
	memory_store(vm->memory, operand->addr, operand->bytes, operand->size);
	return true;
}

bool x86_refuse(struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_PRIVILEGE;
	return false;
}

bool x86_emulate(struct vm *vm, struct vm_stop *stop)
{
	enum vm_access access = ACCESS_WRITE;
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t left = block_code(vm, stop->pc, code, &opcode);
	struct operand operand;
	unsigned length;

	if (x86_system_knows(*opcode))
		return x86_system(vm, code, opcode, left, stop);
	if (!block_operand(vm, stop->pc, &operand.addr, &operand.size,
			   &length) ||
	    (operand.size == 16 && operand.addr % 16))
		return x86_refuse(stop);
	if (vm->insn->id == X86_INS_LDMXCSR)
		access = ACCESS_READ;
	if (x86_operand_faults(vm, operand.addr, operand.size, access, stop))
		return false;
	watch_operand(vm, operand.addr, NULL, operand.size);
	memory_load(vm->memory, operand.addr, operand.bytes, operand.size);
	if (!perform(vm, &operand))
		return x86_refuse(stop);
	stop->size = length;
	vm_skip(vm, stop);
	return true;
}
