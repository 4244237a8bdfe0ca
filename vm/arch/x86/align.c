/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * align.c - operands of SSE in memory that must be aligned
 *
 * The engine does not mind where they are.  Where one is can mostly be told
 * when its block is entered: from a register of that moment and what the block
 * adds to it.  Such demands are checked there, in code of ours that the
 * translation jumps to (inline_align.c).  A block ends before an operand
 * whose address is loaded or computed on the way (plan.c); where that does not
 * help, the instruction gets the hook of float.c.
 *
 * Source: Intel 64 SDM volume 2, 2.4 (table of exception types 1, 2 and 4) and
 * the instructions' own pages.
 */
#include <string.h>

#include "vm/arch/x86/x86.h"

#define ALIGNMENT 16u

bool align_is_met(struct cpu *cpu, const struct x86_code *code)
{
	struct operand_form form;
	guest_addr addr;
	unsigned size;

	if (!code->insn.class.is_aligned)
		return true;
	if (insn_operand(&code->insn, &form))
		addr = x86_address(cpu, &form, code->pc + code->insn.size);
	else if (!x86_operand(cpu, code, &addr, &size))
		return true;
	return addr % ALIGNMENT == 0;
}

/* ------- what a block does to registers, modulo 16 ------- */

/* What is known of a register: one that the block began with, and a number. */
struct known {
	int8_t from;		/* OPERAND_NONE: the number alone */
	bool unknown;
	uint8_t offset;
};

struct walk {
	struct cpu *cpu;
	struct known regs[16];
	unsigned index;		/* of the instruction */
	struct demand *out;
	unsigned room, found;
	struct loose loose;
};

enum { RSP = 4 };

static void forget(struct walk *walk, unsigned reg)
{
	walk->regs[reg].unknown = true;
}

static void add(struct walk *walk, unsigned reg, int64_t value)
{
	walk->regs[reg].offset =
		(uint8_t)((walk->regs[reg].offset + value) & (ALIGNMENT - 1));
}

#define FAMILY(number, whole, half, quarter, low)                            \
	[X86_REG_##whole] = (number) + 1, [X86_REG_##half] = (number) + 1,    \
	[X86_REG_##quarter] = (number) + 1, [X86_REG_##low] = (number) + 1

/*
 * One more than the number in the encoding of the register that this is, or is
 * the low part of; 0 for AH, CH, DH and BH, which do not affect the low four
 * bits.
 */
static const uint8_t families[X86_REG_ENDING] = {
	FAMILY(0, RAX, EAX, AX, AL), FAMILY(1, RCX, ECX, CX, CL),
	FAMILY(2, RDX, EDX, DX, DL), FAMILY(3, RBX, EBX, BX, BL),
	FAMILY(4, RSP, ESP, SP, SPL), FAMILY(5, RBP, EBP, BP, BPL),
	FAMILY(6, RSI, ESI, SI, SIL), FAMILY(7, RDI, EDI, DI, DIL),
	FAMILY(8, R8, R8D, R8W, R8B), FAMILY(9, R9, R9D, R9W, R9B),
	FAMILY(10, R10, R10D, R10W, R10B), FAMILY(11, R11, R11D, R11W, R11B),
	FAMILY(12, R12, R12D, R12W, R12B), FAMILY(13, R13, R13D, R13W, R13B),
	FAMILY(14, R14, R14D, R14W, R14B), FAMILY(15, R15, R15D, R15W, R15B),
};

static void forget_written(struct walk *walk, guest_addr pc,
			   const struct x86_parts *insn)
{
	struct x86 *x86 = x86_of(walk->cpu);
	cs_regs read, written;
	uint8_t reads, writes;
	bool known = x86_disassemble(walk->cpu, insn->code, insn->size, pc) &&
		     !cs_regs_access(x86->decoder, x86->insn, read, &reads,
				     written, &writes);

	for (unsigned i = 0; !known && i < 16; i++)
		forget(walk, i);
	for (unsigned i = 0; known && i < writes; i++)
		if (families[written[i]])
			forget(walk, families[written[i]] - 1u);
}

/* ADD, SUB and AND of a register and a number. */
static bool take_arithmetic(struct walk *walk, const struct x86_parts *insn)
{
	const uint8_t *immediate = insn->code + insn->immediate_at;
	unsigned reg = insn_rm(insn);
	int32_t value;

	if (insn->opcode == 0x83)
		value = (int8_t)*immediate;
	else
		memcpy(&value, immediate, sizeof(value));
	switch (insn_group(insn)) {
	case 0:
		add(walk, reg, value);
		return true;
	case 5:
		add(walk, reg, -(int64_t)value);
		return true;
	case 4:
		if (value % (int)ALIGNMENT)
			return false;
		walk->regs[reg] = (struct known){ .from = OPERAND_NONE };
		return true;
	}
	return false;
}

static bool take_lea(struct walk *walk, const struct x86_parts *insn,
		     guest_addr next)
{
	struct known *to = &walk->regs[insn_reg(insn)];
	struct operand_form form;

	if (!insn_operand(insn, &form) || form.base == OPERAND_NONE ||
	    form.index != OPERAND_NONE)
		return false;
	*to = form.base != OPERAND_NEXT ?
		      walk->regs[form.base] :
		      (struct known){ .from = OPERAND_NONE,
				      .offset = next % ALIGNMENT };
	add(walk, insn_reg(insn), form.displacement);
	return true;
}

/* The common instructions whose result is known; false: any other. */
static bool take(struct walk *walk, guest_addr pc, const struct x86_parts *insn)
{
	if (insn->has_66 || insn->map != MAP_ONE || !insn->size)
		return false;
	if ((insn->opcode & 0xf0) == 0x50) {		/* PUSH, POP */
		int word = (int)x86_word(walk->cpu);

		add(walk, RSP, insn->opcode < 0x58 ? -word : word);
		if (insn->opcode >= 0x58)
			forget(walk, (insn->opcode & 7u) | (insn->rex & 1u)
								   << 3);
		return true;
	}
	if (!insn->is_32 && !(insn->rex & 8))
		return false;
	switch (insn->opcode) {
	case 0x8d:
		return take_lea(walk, insn, pc + insn->size);
	case 0x81: case 0x83:
		return insn_names_register(insn) && take_arithmetic(walk, insn);
	case 0x89:
		if (!insn_names_register(insn))
			return false;
		walk->regs[insn_rm(insn)] = walk->regs[insn_reg(insn)];
		return true;
	case 0x8b:
		if (!insn_names_register(insn))
			return false;
		walk->regs[insn_reg(insn)] = walk->regs[insn_rm(insn)];
		return true;
	}
	return false;
}

/* ------- demands ------- */

static bool is_same(const struct demand *a, const struct demand *b)
{
	return a->base == b->base && a->index == b->index &&
	       a->shift == b->shift && a->offset == b->offset;
}

/* False if there is no room. */
static bool add_demand(struct walk *walk, const struct demand *demand)
{
	for (unsigned i = 0; i < walk->found; i++)
		if (is_same(&walk->out[i], demand))
			return true;
	if (walk->found == walk->room)
		return false;
	walk->out[walk->found++] = *demand;
	return true;
}

/* Adds a part of an address; false if its value is not known. */
static bool add_part(const struct walk *walk, int reg, unsigned shift,
		     int8_t *from, struct demand *demand)
{
	const struct known *known = &walk->regs[reg & 15];

	*from = OPERAND_NONE;
	if (reg == OPERAND_NONE)
		return true;
	if (known->unknown)
		return false;
	*from = known->from;
	demand->offset = (uint8_t)((demand->offset +
				    (known->offset << shift)) % ALIGNMENT);
	return true;
}

static bool demand_of(struct walk *walk, guest_addr pc,
		      const struct x86_parts *insn)
{
	struct demand demand = { .insn = (uint16_t)walk->index };
	struct operand_form form;

	if (!insn_operand(insn, &form) || form.segment)
		return false;
	demand.shift = form.shift;
	demand.offset = (uint8_t)((unsigned)form.displacement % ALIGNMENT);
	if (form.base == OPERAND_NEXT) {
		demand.offset = (uint8_t)((demand.offset + pc + insn->size) %
					  ALIGNMENT);
		form.base = OPERAND_NONE;
		if (!demand.offset)
			return true;
	}
	return add_part(walk, form.base, 0, &demand.base, &demand) &&
	       add_part(walk, form.index, form.shift, &demand.index, &demand) &&
	       add_demand(walk, &demand);
}

static void walk_over(struct walk *walk, guest_addr pc,
		      const struct x86_parts *insn)
{
	if (insn->class.is_aligned && !demand_of(walk, pc, insn)) {
		walk->loose.is_first |= !walk->index;
		walk->loose.last = (uint16_t)walk->index;
		if (!walk->loose.next)
			walk->loose.next = (uint16_t)walk->index;
	}
	if (!take(walk, pc, insn))
		forget_written(walk, pc, insn);
	walk->index++;
}

struct loose x86_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			 size_t size, unsigned count, struct demand *out,
			 unsigned room, unsigned *found)
{
	struct walk walk = { .cpu = cpu, .out = out, .room = room };

	for (int8_t i = 0; i < 16; i++)
		walk.regs[i].from = i;
	for (size_t at = 0; at < size && walk.index < count;) {
		struct x86_parts insn;

		x86_take(cpu, code + at, size - at, pc + at, &insn);
		if (!insn.size)
			break;
		walk_over(&walk, pc + at, &insn);
		at += insn.size;
	}
	*found = walk.found;
	return walk.loose;
}

unsigned x86_low_bits(struct cpu *cpu, int reg)
{
	return engine_x86(cpu->engine)->general[8 * reg];
}

bool x86_is_aligned(struct cpu *cpu, guest_addr pc, unsigned *size)
{
	struct x86_code code;

	x86_fetch(cpu, pc, &code);
	*size = code.insn.size;
	return align_is_met(cpu, &code);
}
