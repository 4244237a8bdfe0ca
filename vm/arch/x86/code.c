/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.c - instructions in memory, and what the processor must know of them
 *
 * Source: Intel 64 SDM volume 3, 9.1.2 (bus locking): LOCK prefixes, and XCHG
 * with memory without one.
 */
#include "vm/arch/x86/x86.h"

#define PAUSE 0x90		/* with F3 */

void x86_take(struct cpu *cpu, const uint8_t *code, size_t left, guest_addr pc,
	      struct x86_parts *out)
{
	x86_take_apart(code, left, out);
	if (!out->size)
		out->size = (uint8_t)x86_disassemble(cpu, code, left, pc);
}

void x86_fetch(struct cpu *cpu, guest_addr pc, struct x86_code *out)
{
	size_t left = memory_code(cpu->memory, pc, out->bytes, X86_INSN_MOST);

	out->pc = pc;
	x86_take(cpu, out->bytes, left, pc, &out->insn);
}

struct insn x86_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc)
{
	struct x86_parts insn;
	bool repeats;

	x86_take(cpu, code, left, pc, &insn);
	repeats = insn.repeated && insn.class.is_string;
	return (struct insn){
		.size = insn.size,
		.ends_block = repeats || insn.class.ends_block,
		.repeats = repeats,
		.pauses = insn.repeated && insn.map == MAP_ONE &&
			  insn.opcode == PAUSE,
		.special = insn.class.gate != GATE_OPEN,
		.hooked = float_wants_hook(cpu, &insn),
		.demands = insn.class.is_aligned,
	};
}

/* CMPXCHG; CMPXCHG8B and CMPXCHG16B */
static bool compares(const struct x86_parts *insn)
{
	return insn->map == MAP_0F && (insn->opcode == 0xb0 ||
				       insn->opcode == 0xb1 ||
				       insn->opcode == 0xc7);
}

enum vm_order x86_order(struct cpu *cpu, guest_addr pc)
{
	uint8_t bytes[X86_INSN_MOST];
	struct x86_parts insn;

	x86_take_apart(bytes, memory_code(cpu->memory, pc, bytes,
					  X86_INSN_MOST), &insn);
	if (insn.map == MAP_ONE && (insn.opcode & 0xfe) == 0x86)	/* XCHG */
		return insn_names_register(&insn) ? VM_PLAIN : VM_ATOMIC;
	if (!insn.lock)
		return VM_PLAIN;
	return compares(&insn) ? VM_COMPARES : VM_ATOMIC;
}
