/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emulate.c - instructions that the engine executes wrongly
 *
 * CMPXCHG8B and CMPXCHG16B: it computes the flags beside ZF from a stale
 * state.  LOCK NEG: it computes the flags from the old value.
 *
 * Source: Intel 64 SDM volume 2, CMPXCHG8B/CMPXCHG16B, NEG; volume 1, 3.4.3.
 */
#include "vm/arch/x86/x86.h"

#include <string.h>


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

/* If the memory is as expected it gets a new value, else it is returned. */
static void compare_exchange(struct cpu *cpu, struct operand *operand)
{
	size_t half = operand->size / 2;
	uint64_t found[2] = { 0 }, wanted[2] = { 0 };
	uint64_t rax = x86_read_reg(cpu, X86_RAX),
		 rdx = x86_read_reg(cpu, X86_RDX);
	uint64_t rbx = x86_read_reg(cpu, X86_RBX),
		 rcx = x86_read_reg(cpu, X86_RCX);
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS) & ~(uint64_t)FLAG_ZF;

	memcpy(&found[0], operand->bytes, half);
	memcpy(&found[1], operand->bytes + half, half);
	memcpy(&wanted[0], &rax, half);
	memcpy(&wanted[1], &rdx, half);
	if (found[0] == wanted[0] && found[1] == wanted[1]) {
		memcpy(operand->bytes, &rbx, half);
		memcpy(operand->bytes + half, &rcx, half);
		flags |= FLAG_ZF;
	} else {
		x86_write_reg(cpu, X86_RAX, found[0]);
		x86_write_reg(cpu, X86_RDX, found[1]);
	}
	x86_write_reg(cpu, X86_RFLAGS, flags);
}

static void negate(struct cpu *cpu, struct operand *operand)
{
	const uint64_t all = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF |
			     FLAG_OF;
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS) & ~all;
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
	x86_write_reg(cpu, X86_RFLAGS, flags);
}


bool x86_emulate(struct cpu *cpu, const struct x86_code *code,
		 struct vm_stop *stop)
{
	struct operand operand;

	if (x86_system_knows(&code->insn))
		return x86_system(cpu, code, stop);
	if (!x86_operand(cpu, code, &operand.addr, &operand.size) ||
	    (operand.size == 16 && operand.addr % 16))
		return x86_refuse(stop);
	if (x86_operand_faults(cpu, operand.addr, operand.size, ACCESS_WRITE,
			       stop))
		return false;
	cpu_load(cpu, operand.addr, operand.bytes, operand.size);
	if (code->insn.map == MAP_ONE)
		negate(cpu, &operand);
	else
		compare_exchange(cpu, &operand);
	cpu_store(cpu, operand.addr, operand.bytes, operand.size);
	return true;
}
