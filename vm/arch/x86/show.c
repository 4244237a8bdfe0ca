/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show.c - instructions as text, for people
 *
 * In AT&T's syntax as objdump and gdb write it: the disassembler puts a suffix
 * at each name; they, only where no register says how wide an operand is.
 */
#include "vm/arch/x86/x86.h"

#include <stdio.h>
#include <string.h>

unsigned x86_text(struct cpu *cpu, guest_addr pc, char *text, size_t room)
{
	const cs_insn *insn = x86_of(cpu)->insn;
	uint8_t code[X86_INSN_MOST];
	size_t left = 0;

	while (left < sizeof(code) &&
	       !memory_read(cpu->memory, pc + left, code + left, 1))
		left++;
	if (!x86_disassemble(cpu, code, left, pc)) {
		snprintf(text, room, "(bad)");
		return 1;
	}
	snprintf(text, room, "%s%s%s", insn->mnemonic,
		 insn->op_str[0] ? " " : "", insn->op_str);
	return insn->size;
}

/* ------- where it leads ------- */

static bool is_in_group(const cs_insn *insn, uint8_t group)
{
	for (unsigned i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

/* POP, LEAVE; ADD, MOV and LEA to the stack pointer. */
static bool unwinds(const cs_insn *insn)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];

	switch (insn->id) {
	case X86_INS_POP:
		return to->type == X86_OP_REG;
	case X86_INS_LEAVE:
		return true;
	case X86_INS_ADD:
	case X86_INS_MOV:
	case X86_INS_LEA:
		return to->type == X86_OP_REG &&
		       (to->reg == X86_REG_RSP || to->reg == X86_REG_ESP);
	}
	return false;
}

static void find_way(const cs_insn *insn, struct vm_instruction *out)
{
	bool calls = is_in_group(insn, CS_GRP_CALL);
	bool returns = is_in_group(insn, CS_GRP_RET) ||
		       is_in_group(insn, CS_GRP_IRET);

	out->leads_on = calls || returns || is_in_group(insn, CS_GRP_JUMP);
	out->way = calls ? VM_WAY_CALL :
		   returns ? VM_WAY_RETURN : VM_WAY_OTHER;
	out->unwinds = unwinds(insn);
}

static void find_target(const cs_insn *insn, struct vm_instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool jumps = out->leads_on && out->way != VM_WAY_RETURN;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type == X86_OP_IMM && jumps) {
			out->jumps = out->has_target = true;
			out->target = (guest_addr)operand->imm;
		} else if (operand->type == X86_OP_MEM &&
			   operand->mem.base == X86_REG_RIP &&
			   operand->mem.index == X86_REG_INVALID) {
			out->has_target = true;
			out->target = insn->address + insn->size +
				      (guest_addr)operand->mem.disp;
		}
	}
}

/* ------- AT&T's syntax ------- */

static bool has_register(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_REG)
			return true;
	return false;
}

/* Those that are as wide as the stack as a rule have no suffix at all. */
static bool is_wide(const char *name)
{
	static const char *const names[] = { "call", "ret", "jmp", "push",
					     "pop", "leave" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* "movq" is "mov", if that is what the instruction is called. */
static void cut_suffix(const char *name, const cs_insn *insn, char *mnemonic)
{
	size_t size = name ? strlen(name) : 0;
	char *end = mnemonic + strlen(mnemonic) - 1;

	if (!name || strncmp(mnemonic, name, size) || end != mnemonic + size ||
	    !strchr("bwlq", *end))
		return;
	if (is_wide(name) || has_register(insn))
		*end = '\0';
}

/* Without blanks behind commas. */
static void squeeze(char *operands)
{
	char *to = operands;

	for (const char *from = operands; *from; from++)
		if (*from != ' ' || from == operands || from[-1] != ',')
			*to++ = *from;
	*to = '\0';
}

void x86_show(struct cpu *cpu, guest_addr pc, const uint8_t *code, size_t size,
	      enum vm_syntax syntax, struct vm_instruction *out)
{
	struct x86 *x86 = x86_of(cpu);
	cs_insn *insn = x86->insn;

	cs_option(x86->decoder, CS_OPT_SYNTAX, syntax == VM_ATT ?
			  CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	if (x86_disassemble(cpu, code, size, pc)) {
		out->size = insn->size;
		find_way(insn, out);
		find_target(insn, out);
		if (syntax == VM_ATT) {
			cut_suffix(cs_insn_name(x86->decoder, insn->id), insn,
				   insn->mnemonic);
			squeeze(insn->op_str);
		}
		snprintf(out->text, sizeof(out->text), insn->op_str[0] ?
				 "%-6s %s" : "%s", insn->mnemonic,
			 insn->op_str);
	}
	cs_option(x86->decoder, CS_OPT_SYNTAX, CS_OPT_SYNTAX_INTEL);
}
