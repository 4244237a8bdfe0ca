/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show.c - instructions as text, for people */
#include "vm/arch/arm/arm.h"

#include <stdio.h>
#include <string.h>

/* As many follow an IT at most: the decoder takes what comes next for them. */
#define IT_MOST 4

static void forget_it(struct arm *arm)
{
	static const uint8_t nop[2] = { 0x00, 0xbf };

	for (unsigned i = 0; i < IT_MOST; i++) {
		const uint8_t *code = nop;
		size_t left = sizeof(nop);
		uint64_t at = 0;

		cs_disasm_iter(arm->decoder, &code, &left, &at, arm->insn);
	}
}

/* Disassembles the instruction, with details; false if it is none. */
static bool disassemble(struct cpu *cpu, const uint8_t *code,
			const struct arm_code *insn, guest_addr pc)
{
	struct arm *arm = arm_of(cpu);
	size_t left = insn->size;
	uint64_t at = pc;

	cs_option(arm->decoder, CS_OPT_MODE,
		  (insn->is_thumb ? CS_MODE_THUMB : CS_MODE_ARM) |
			  (cpu->engine ? 0 : CS_MODE_MCLASS));
	if (insn->is_thumb)
		forget_it(arm);
	return insn->size &&
	       cs_disasm_iter(arm->decoder, &code, &left, &at, arm->insn);
}

/* What is no instruction is words all the same, as assemblers write them. */
static void show_words(const uint8_t *code, const struct arm_code *insn,
		       char *text, size_t room)
{
	unsigned low = code[0] | (unsigned)code[1] << 8;
	unsigned high = 0;

	if (insn->size == 4)
		high = code[2] | (unsigned)code[3] << 8;
	if (insn->size == 2)
		snprintf(text, room, ".inst.n 0x%04x", low);
	else if (insn->is_thumb)
		snprintf(text, room, ".inst.w 0x%04x%04x", low, high);
	else
		snprintf(text, room, ".inst 0x%04x%04x", high, low);
}

unsigned arm_text(struct cpu *cpu, guest_addr pc, char *text, size_t room)
{
	const cs_insn *shown = arm_of(cpu)->insn;
	struct arm_code insn = arm_fetch(cpu, pc);
	uint8_t code[INSN_MOST];

	if (!insn.size || memory_read(cpu->memory, pc, code, insn.size))
		snprintf(text, room, "(bad)");
	else if (!disassemble(cpu, code, &insn, pc))
		show_words(code, &insn, text, room);
	else
		snprintf(text, room, "%s%s%s", shown->mnemonic,
			 shown->op_str[0] ? " " : "", shown->op_str);
	return insn.size ? insn.size : 2;
}

const cs_insn *arm_known(struct cpu *cpu, guest_addr pc)
{
	struct arm_code insn = arm_fetch(cpu, pc);
	uint8_t code[INSN_MOST];

	if (memory_code(cpu->memory, pc, code, insn.size) < insn.size ||
	    !disassemble(cpu, code, &insn, pc))
		return NULL;
	return arm_of(cpu)->insn;
}

/* ------- where it leads ------- */

/* Whether it may write PC: of those that end blocks, others change the system's
 * state, or are exceptions. */
static bool leads_on(const cs_insn *shown, const struct arm_code *insn)
{
	const cs_arm *arm = &shown->detail->arm;

	if (arm_way_of(insn) != VM_WAY_OTHER)
		return true;
	for (unsigned i = 0; i < shown->detail->groups_count; i++)
		if (shown->detail->groups[i] == ARM_GRP_JUMP)
			return true;
	for (unsigned i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM_OP_REG &&
		    arm->operands[i].reg == ARM_REG_PC &&
		    arm->operands[i].access & CS_AC_WRITE)
			return true;
	return shown->id == ARM_INS_TBB || shown->id == ARM_INS_TBH;
}

/* POP, of vectors also; what is added to the stack pointer, or becomes it. */
static bool unwinds(const cs_insn *shown)
{
	const cs_arm *arm = &shown->detail->arm;
	const cs_arm_op *first = &arm->operands[0];
	bool is_stack = arm->op_count && first->type == ARM_OP_REG &&
			first->reg == ARM_REG_SP;
	bool from_stack = arm->op_count > 1 &&
			  arm->operands[1].type == ARM_OP_REG &&
			  arm->operands[1].reg == ARM_REG_SP;

	switch (shown->id) {
	case ARM_INS_POP:
	case ARM_INS_VPOP:
		return true;
	case ARM_INS_LDM:
	case ARM_INS_ADD:
	case ARM_INS_ADDW:
	case ARM_INS_MOV:
		return is_stack;
	case ARM_INS_SUB:	/* of the frame's register */
		return is_stack && arm->op_count == 3 && !from_stack;
	default:
		return false;
	}
}

static void find_target(struct cpu *cpu, const cs_insn *shown,
			const struct arm_code *insn,
			struct vm_instruction *out)
{
	const cs_arm *arm = &shown->detail->arm;
	const cs_arm_op *last = &arm->operands[arm->op_count - 1];

	if (!arm->op_count)
		return;
	if (last->type == ARM_OP_IMM && out->leads_on &&
	    out->way != VM_WAY_RETURN) {
		out->jumps = out->has_target = true;
		out->target = (uint32_t)last->imm;
	} else if (last->type == ARM_OP_MEM && last->mem.base == ARM_REG_PC &&
		   last->mem.index == ARM_REG_INVALID) {
		out->has_target = arm_operand(cpu, shown->address, insn,
					      &out->target);
	}
}

/* There is one syntax. */
void arm_show(struct cpu *cpu, guest_addr pc, const uint8_t *code, size_t size,
	      enum vm_syntax syntax, struct vm_instruction *out)
{
	const cs_insn *shown = arm_of(cpu)->insn;
	/* Without an engine, it is that of a machine, which has no other. */
	bool is_thumb = !cpu->engine ||
			modes_is_thumb(arm_of(cpu)->modes, pc,
				       arm_is_in_thumb(cpu));
	struct arm_code insn = arm_code_of(code, size, is_thumb);

	(void)syntax;
	if (insn.size > size || !disassemble(cpu, code, &insn, pc))
		return;
	out->size = insn.size;
	out->leads_on = leads_on(shown, &insn);
	out->way = arm_way_of(&insn);
	out->unwinds = unwinds(shown);
	find_target(cpu, shown, &insn, out);
	snprintf(out->text, sizeof(out->text),
		 shown->op_str[0] ? "%-6s %s" : "%s", shown->mnemonic,
		 shown->op_str);
}
