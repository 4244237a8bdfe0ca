/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.c - what an instruction is, for the count, the gate and the order of
 * accesses
 *
 * Source: Intel 64 SDM volume 3, 9.1.2 (bus locking): LOCK prefixes, and XCHG
 * with memory without one.
 */
#include "vm/arch/x86/gate.h"
#include "vm/arch/x86/prefixes.h"
#include "vm/arch/x86/x86.h"

size_t x86_fetch(struct cpu *cpu, guest_addr pc, uint8_t *code,
		 const uint8_t **opcode)
{
	size_t size = memory_code(cpu->memory, pc, code, X86_INSN_MOST);
	bool rep;

	*opcode = skip_prefixes(code, code + size, &rep);
	return size;
}

size_t x86_size(struct cpu *cpu, const uint8_t *code, size_t left,
		guest_addr pc)
{
	size_t known = x86_length(code, left);

	return known ? known : x86_disassemble(cpu, code, left, pc);
}

/* INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS */
static bool is_string(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

/*
 * Whether the engine ends a block behind this instruction: jumps, calls,
 * returns, system calls, changes of flags that it translates for (POPF, STI)
 * and of segments.
 */
static bool ends_block(const uint8_t *at, const uint8_t *end)
{
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

struct insn x86_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc)
{
	struct insn insn = {
		.size = (uint8_t)x86_size(cpu, code, left, pc),
		.special = x86_gate(code, code + left) != GATE_OPEN,
	};
	const uint8_t *end = code + (insn.size ? insn.size : left), *opcode;
	bool rep;

	opcode = skip_prefixes(code, end, &rep);
	if (opcode < end) {
		insn.repeats = rep && is_string(*opcode);
		insn.ends_block = insn.repeats || ends_block(opcode, end);
		insn.pauses = rep && *opcode == 0x90;
	}
	insn.demands = align_wants(code, opcode, end);
	insn.hooked = float_wants_hook(cpu, opcode, end);
	return insn;
}

enum vm_order x86_order(struct cpu *cpu, guest_addr pc)
{
	/* What is behind it may be on a page that the guest does not touch. */
	uint8_t code[X86_INSN_MOST + 2] = { 0 };
	const uint8_t *at = code;
	bool lock = false;

	memory_code(cpu->memory, pc, code, X86_INSN_MOST);
	for (unsigned i = 0; i < 14 && is_legacy_prefix(*at); i++)
		lock |= *at++ == 0xf0;
	if ((*at & 0xf0) == 0x40)	/* REX */
		at++;
	if (*at == 0x86 || *at == 0x87)	/* XCHG */
		return at[1] < 0xc0 ? VM_ATOMIC : VM_PLAIN;
	if (!lock)
		return VM_PLAIN;
	if (*at != 0x0f)
		return VM_ATOMIC;
	/* CMPXCHG; CMPXCHG8B and CMPXCHG16B */
	return at[1] == 0xb0 || at[1] == 0xb1 || at[1] == 0xc7 ? VM_COMPARES :
								 VM_ATOMIC;
}
