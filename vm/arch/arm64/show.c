/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show.c - instructions as text, for people */
#include "vm/arch/arm64/arm64.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Disassembles the instruction, with details; false if it is none. */
static bool disassemble(struct cpu *cpu, const uint8_t *code, size_t left,
			guest_addr pc)
{
	struct arm64 *arm64 = arm64_of(cpu);
	uint64_t at = pc;

	return cs_disasm_iter(arm64->decoder, &code, &left, &at, arm64->insn);
}

/* Of later processors than the guest's: the rows that programs are compiled
 * for.  Source: DDI 0487, C4.1. */
static const struct {
	uint32_t mask, bits;
	const char *name;
} extensions[] = {
	{ 0x1e000000, 0x04000000, "SVE" },
	{ 0x3ffffc00, 0x38bfc000, "LRCPC" },
	{ 0x3f200c00, 0x38200000, "LSE" },	/* ldadd, swp and the like */
	{ 0x3fa07c00, 0x08a07c00, "LSE" },	/* cas */
	{ 0xbfa07c00, 0x08207c00, "LSE" },	/* casp */
	{ 0xfffffbff, 0xd65f0bff, "PAuth" },	/* retaa, retab */
	{ 0xffdff800, 0xd61f0800, "PAuth" },	/* braaz, blraaz */
	{ 0xffdff800, 0xd71f0800, "PAuth" },	/* braa, blraa */
	{ 0x9fe0fc00, 0x0e809400, "DotProd" },	/* sdot, udot */
};

static const char *extension_of(uint32_t word)
{
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if ((word & extensions[i].mask) == extensions[i].bits)
			return extensions[i].name;
	return NULL;
}

static uint32_t word_of(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

/* Says behind the text which extension has the instruction. */
static void add_extension(const uint8_t *code, char *text, size_t room)
{
	const char *extension = extension_of(word_of(code));
	size_t size = strlen(text);

	if (extension)
		snprintf(text + size, room - size, " // %s", extension);
}

/* What is no instruction is a word all the same. */
static void show_word(const uint8_t *code, char *text, size_t room)
{
	snprintf(text, room, ".inst 0x%08" PRIx32, word_of(code));
	add_extension(code, text, room);
}

unsigned arm64_text(struct cpu *cpu, guest_addr pc, char *text, size_t room)
{
	const cs_insn *insn = arm64_of(cpu)->insn;
	uint8_t code[ARM64_INSN_SIZE];

	if (memory_read(cpu->memory, pc, code, sizeof(code))) {
		snprintf(text, room, "(bad)");
	} else if (!disassemble(cpu, code, sizeof(code), pc)) {
		show_word(code, text, room);
	} else {
		snprintf(text, room, "%s%s%s", insn->mnemonic,
			 insn->op_str[0] ? " " : "", insn->op_str);
		add_extension(code, text, room);
	}
	return ARM64_INSN_SIZE;
}

const cs_insn *arm64_known(struct cpu *cpu, guest_addr pc)
{
	uint8_t code[ARM64_INSN_SIZE];

	if (memory_code(cpu->memory, pc, code, sizeof(code)) != sizeof(code) ||
	    !disassemble(cpu, code, sizeof(code), pc))
		return NULL;
	return arm64_of(cpu)->insn;
}

/* ------- where it leads ------- */

static bool is_any(const cs_insn *insn, const unsigned *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (insn->id == ids[i])
			return true;
	return false;
}
#define IS_ANY(insn, ...)                                                      \
	is_any(insn, (const unsigned[]){ __VA_ARGS__ },                        \
	       sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void find_way(const cs_insn *insn, struct vm_instruction *out)
{
	bool calls = IS_ANY(insn, ARM64_INS_BL, ARM64_INS_BLR);
	bool returns = IS_ANY(insn, ARM64_INS_RET);

	out->leads_on = calls || returns ||
			IS_ANY(insn, ARM64_INS_B, ARM64_INS_BR,
			       ARM64_INS_CBZ, ARM64_INS_CBNZ, ARM64_INS_TBZ,
			       ARM64_INS_TBNZ);
	out->way = calls ? VM_WAY_CALL :
		   returns ? VM_WAY_RETURN : VM_WAY_OTHER;
}

/* LDP of the frame's registers; ADD to the stack pointer. */
static void find_unwinding(const cs_insn *insn, struct vm_instruction *out)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *first = &arm64->operands[0];
	bool is_reg = arm64->op_count && first->type == ARM64_OP_REG;

	if (IS_ANY(insn, ARM64_INS_ADD, ARM64_INS_MOV))
		out->unwinds = is_reg && first->reg == ARM64_REG_SP;
	else if (IS_ANY(insn, ARM64_INS_LDP))
		out->unwinds = is_reg && arm64->writeback;
}

static void find_target(const cs_insn *insn, struct vm_instruction *out)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *last = &arm64->operands[arm64->op_count - 1];

	if (!arm64->op_count || last->type != ARM64_OP_IMM)
		return;
	if (out->leads_on && out->way != VM_WAY_RETURN) {
		out->jumps = out->has_target = true;
		out->target = (guest_addr)last->imm;
	} else if (IS_ANY(insn, ARM64_INS_ADR, ARM64_INS_ADRP)) {
		out->has_target = true;
		out->target = (guest_addr)last->imm;
	}
}

/* There is one syntax. */
void arm64_show(struct cpu *cpu, guest_addr pc, const uint8_t *code,
		size_t size, enum vm_syntax syntax,
		struct vm_instruction *out)
{
	const cs_insn *insn = arm64_of(cpu)->insn;

	(void)syntax;
	if (size < ARM64_INSN_SIZE)
		return;
	out->size = ARM64_INSN_SIZE;
	if (!disassemble(cpu, code, ARM64_INSN_SIZE, pc)) {
		show_word(code, out->text, sizeof(out->text));
		return;
	}
	find_way(insn, out);
	find_unwinding(insn, out);
	find_target(insn, out);
	snprintf(out->text, sizeof(out->text),
		 insn->op_str[0] ? "%-6s %s" : "%s", insn->mnemonic,
		 insn->op_str);
}
