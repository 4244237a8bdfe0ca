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
	x86_take_apart(x86_is_32(cpu), code, left, out);
	if (!out->size)
		out->size = (uint8_t)x86_disassemble(cpu, code, left, pc);
}

/*
 * What of an instruction is on its first page: the next may never be touched.
 */
static size_t fetch_first(struct cpu *cpu, guest_addr pc, struct x86_code *out)
{
	size_t left = GUEST_PAGE - pc % GUEST_PAGE;

	out->pc = pc;
	left = memory_code(cpu->memory, pc, out->bytes,
			   left < X86_INSN_MOST ? left : X86_INSN_MOST);
	x86_take_apart(x86_is_32(cpu), out->bytes, left, &out->insn);
	return left;
}

static size_t fetch_rest(struct cpu *cpu, struct x86_code *out, size_t done)
{
	return done + memory_code(cpu->memory, out->pc + done,
				  out->bytes + done, X86_INSN_MOST - done);
}

void x86_fetch(struct cpu *cpu, guest_addr pc, struct x86_code *out)
{
	size_t left = fetch_first(cpu, pc, out);

	if (out->insn.size)
		return;
	out->insn.size = (uint8_t)x86_disassemble(cpu, out->bytes, left, pc);
	if (!out->insn.size)
		x86_take(cpu, out->bytes, fetch_rest(cpu, out, left), pc,
			 &out->insn);
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
		.cut_off = insn.is_cut_off && !insn.size &&
			   insn.known < X86_INSN_MOST,
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
	struct x86_code code;
	const struct x86_parts *insn = &code.insn;
	size_t left = fetch_first(cpu, pc, &code);

	if (!insn->size && insn->behind_at >= insn->known)
		x86_take_apart(x86_is_32(cpu), code.bytes,
			       fetch_rest(cpu, &code, left), &code.insn);
	if (insn->map == MAP_ONE && (insn->opcode & 0xfe) == 0x86) /* XCHG */
		return insn_names_register(insn) ? VM_PLAIN : VM_ATOMIC;
	if (!insn->lock)
		return VM_PLAIN;
	return compares(insn) ? VM_COMPARES : VM_ATOMIC;
}

/* CALL; RET; both also to other segments, and IRET. */
enum vm_way x86_way(struct cpu *cpu, guest_addr pc)
{
	struct x86_code code;
	const struct x86_parts *insn = &code.insn;

	x86_fetch(cpu, pc, &code);
	if (insn->map != MAP_ONE || !insn->size)
		return insn->size ? VM_WAY_OTHER : VM_WAY_UNKNOWN;
	switch (insn->opcode) {
	case 0xe8:
		return VM_WAY_CALL;
	case 0xff:
		return insn_group(insn) == 2 || insn_group(insn) == 3 ?
			       VM_WAY_CALL : VM_WAY_OTHER;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return VM_WAY_RETURN;
	default:
		return VM_WAY_OTHER;
	}
}
