/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.c - instructions in memory, and what the processor must know of them
 *
 * Source: Intel 64 SDM volume 3, 9.1.2 (bus locking): LOCK prefixes, and XCHG
 * with memory without one.
 */
#include <string.h>

#include "formats/processor.h"
#include "vm/arch/x86/x86.h"

/* Earlier behaviours executed some of what is none. */
static void take_apart(struct cpu *cpu, const uint8_t *code, size_t left,
		       struct x86_parts *out)
{
	x86_take_apart(x86_is_32(cpu), code, left, out);
	if (out->has_opcode && cpu->behaviour >= BEHAVIOUR_REFUSES &&
	    x86_is_refused(out))
		out->class = (struct x86_class){ .gate = GATE_INVALID };
}

void x86_take(struct cpu *cpu, const uint8_t *code, size_t left, guest_addr pc,
	      struct x86_parts *out)
{
	take_apart(cpu, code, left, out);
	if (!out->size)
		out->size = (uint8_t)x86_disassemble(cpu, code, left, pc);
}

/*
 * What of an instruction is on its first page: the next may never be touched.
 */
static size_t fetch_first(struct cpu *cpu, guest_addr pc, struct x86_code *out)
{
	size_t left = memory_code_of_page(cpu->memory, pc, out->bytes,
					  X86_INSN_MOST);

	out->pc = pc;
	take_apart(cpu, out->bytes, left, &out->insn);
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

/* ------- what the processor must know ------- */

/* With a middle field of 1 it is the same as with 0. */
static bool is_other_test(const struct x86_parts *insn)
{
	return insn->map == MAP_ONE && (insn->opcode & 0xfe) == 0xf6 &&
	       insn_group(insn) == 1;
}

/* CMPPS and its like know 8 comparisons: higher bits do not count. */
static bool is_other_comparison(const struct x86_parts *insn)
{
	return insn->map == MAP_0F && insn->opcode == 0xc2 &&
	       insn->immediate_at && insn->code[insn->immediate_at] > 7;
}

static bool is_misread(const struct cpu *cpu, const struct x86_parts *insn)
{
	return insn->size && insn->class.gate == GATE_OPEN &&
	       cpu->behaviour >= BEHAVIOUR_REFUSES &&
	       (is_other_test(insn) || is_other_comparison(insn));
}

/* With as many of the other byte in front as one likes, it does nothing. */
#define NOP 0x90
#define OPERAND_SIZE 0x66

void x86_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		  guest_addr pc, uint8_t *out)
{
	struct x86_parts insn;

	x86_take(cpu, code, size, pc, &insn);
	if (!is_misread(cpu, &insn)) {
		memset(out, OPERAND_SIZE, size - 1);
		out[size - 1] = NOP;
		return;
	}
	memcpy(out, code, size);
	if (is_other_test(&insn))
		out[insn.behind_at] &= 0xc7;
	else
		out[insn.immediate_at] &= 7;
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
			  insn.opcode == NOP, /* PAUSE */
		.special = insn.class.gate != GATE_OPEN,
		.misread = is_misread(cpu, &insn),
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
		take_apart(cpu, code.bytes, fetch_rest(cpu, &code, left),
			   &code.insn);
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
