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

#include "vm/arch/x86/prefixes.h"
#include "vm/arch/x86/x86.h"

#define ALIGNMENT 16u

/* ------- which instructions ------- */

/* Bits by the opcode's low nibble, one word for each high nibble. */
typedef uint16_t opcode_rows[16];

/* Behind 0F, without prefix: PS and MOVAPS; not the conversions of 64 bits. */
static const opcode_rows plain = {
	[0x1] = 0x0030, [0x2] = 0x0b00, [0x5] = 0xfbfe, [0xc] = 0x0044,
};

/* With 66: PD, MOVAPD, MOVDQA, integers. */
static const opcode_rows prefix_66 = {
	[0x1] = 0x0030, [0x2] = 0x3b00, [0x5] = 0xfff2, [0x6] = 0xbfff,
	[0x7] = 0xb071, [0xc] = 0x0044, [0xd] = 0xff3f, [0xe] = 0xffff,
	[0xf] = 0x7f7e,
};

/* With F3: MOVSLDUP, MOVSHDUP, CVTTPS2DQ, PSHUFHW. */
static const opcode_rows prefix_f3 = {
	[0x1] = 0x0044, [0x5] = 0x0800, [0x7] = 0x0001,
};

/* With F2: PSHUFLW, HADDPS, HSUBPS, ADDSUBPS, CVTPD2DQ. */
static const opcode_rows prefix_f2 = {
	[0x7] = 0x3001, [0xd] = 0x0001, [0xe] = 0x0040,
};

/* Behind 0F 38 with 66: but for PMOVSX and PMOVZX. */
static const opcode_rows behind_38 = {
	[0x0] = 0x0fff, [0x1] = 0x70b1, [0x2] = 0x0f00, [0x3] = 0xff80,
	[0x4] = 0x0003, [0xd] = 0xf800,
};

/* Behind 0F 3A with 66: those of whole vectors, but for PCMPESTRI's kin. */
static const opcode_rows behind_3a = {
	[0x0] = 0xf300, [0x4] = 0x0017, [0xd] = 0x8000,
};

static bool is_in(const opcode_rows rows, uint8_t opcode)
{
	return rows[opcode >> 4] >> (opcode & 15) & 1;
}

bool align_wants(const uint8_t *code, const uint8_t *opcode,
		 const uint8_t *end)
{
	uint8_t prefix = 0;
	const uint8_t *modrm;
	bool wants;

	if (end - opcode < 3 || *opcode != 0x0f)
		return false;
	for (const uint8_t *at = code; at < opcode; at++)
		if (*at == 0xf2 || *at == 0xf3 || (*at == 0x66 && !prefix))
			prefix = *at;
	modrm = opcode + 2;
	if (opcode[1] == 0x38 || opcode[1] == 0x3a) {
		wants = prefix == 0x66 && is_in(opcode[1] == 0x38 ? behind_38 :
						behind_3a, opcode[2]);
		modrm++;
	} else {
		wants = is_in(prefix == 0x66 ? prefix_66 :
			      prefix == 0xf3 ? prefix_f3 :
			      prefix == 0xf2 ? prefix_f2 : plain, opcode[1]);
	}
	return wants && modrm < end && *modrm < 0xc0;
}

bool align_is_met(struct cpu *cpu, guest_addr pc, const uint8_t *code,
		  const uint8_t *opcode, const uint8_t *end)
{
	struct operand_form form;
	guest_addr addr;
	unsigned size, length;

	if (operand_decode(code, opcode, end, &form))
		addr = operand_at(cpu, &form, pc + (size_t)(end - code));
	else if (!x86_operand(cpu, pc, &addr, &size, &length))
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
 * the low part of; AH and its kin are of no low four bits.
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
			   const uint8_t *code, size_t size)
{
	struct x86 *x86 = x86_of(walk->cpu);
	cs_regs read, written;
	uint8_t reads, writes;
	bool known;

	cs_option(x86->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	known = cs_disasm_iter(x86->decoder, &code, &size, &pc, x86->insn) &&
		!cs_regs_access(x86->decoder, x86->insn, read, &reads, written,
				&writes);
	cs_option(x86->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	for (unsigned i = 0; !known && i < 16; i++)
		forget(walk, i);
	if (!known)
		return;
	for (unsigned i = 0; i < writes; i++) {
		if (families[written[i]])
			forget(walk, families[written[i]] - 1u);
	}
}

/* ADD, SUB and AND of a register and a number. */
static bool take_arithmetic(struct walk *walk, const uint8_t *opcode,
			    const uint8_t *end, unsigned reg)
{
	int32_t value;

	if (*opcode == 0x83)
		value = (int8_t)opcode[2];
	else if (end - opcode >= 6)
		memcpy(&value, opcode + 2, sizeof(value));
	else
		return false;
	switch (opcode[1] >> 3 & 7) {
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

static bool take_lea(struct walk *walk, const uint8_t *code,
		     const uint8_t *opcode, const uint8_t *end,
		     guest_addr next, unsigned reg)
{
	struct operand_form form;

	if (!operand_decode(code, opcode, end, &form) ||
	    form.base == OPERAND_NONE || form.index != OPERAND_NONE)
		return false;
	walk->regs[reg] = form.base != OPERAND_NEXT ?
				  walk->regs[form.base] :
				  (struct known){ .from = OPERAND_NONE,
						  .offset = next % ALIGNMENT };
	add(walk, reg, form.displacement);
	return true;
}

/* The common instructions whose result is known; false: any other. */
static bool take(struct walk *walk, guest_addr pc, const uint8_t *code,
		 const uint8_t *opcode, const uint8_t *end)
{
	unsigned rex = opcode > code && (opcode[-1] & 0xf0) == 0x40 ?
			       opcode[-1] : 0;
	unsigned reg, rm;

	if (memchr(code, 0x66, (size_t)(opcode - code)))
		return false;
	if ((*opcode & 0xf0) == 0x50) {		/* PUSH, POP */
		add(walk, RSP, *opcode < 0x58 ? -8 : 8);
		if (*opcode >= 0x58)
			forget(walk, (*opcode & 7u) | (rex & 1) << 3);
		return true;
	}
	if (!(rex & 8) || end - opcode < 2)
		return false;
	reg = (opcode[1] >> 3 & 7u) | (rex & 4) << 1;
	rm = (opcode[1] & 7u) | (rex & 1) << 3;
	switch (*opcode) {
	case 0x8d:
		return take_lea(walk, code, opcode, end,
				pc + (size_t)(end - code), reg);
	case 0x81: case 0x83:
		return opcode[1] >= 0xc0 &&
		       take_arithmetic(walk, opcode, end, rm);
	case 0x89: case 0x8b:
		if (opcode[1] < 0xc0)
			return false;
		walk->regs[*opcode == 0x89 ? rm : reg] =
			walk->regs[*opcode == 0x89 ? reg : rm];
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

static bool demand_of(struct walk *walk, guest_addr pc, const uint8_t *code,
		      const uint8_t *opcode, const uint8_t *end)
{
	struct demand demand = { .insn = (uint16_t)walk->index };
	struct operand_form form;

	if (!operand_decode(code, opcode, end, &form) || form.segment)
		return false;
	demand.shift = form.shift;
	demand.offset = (uint8_t)((unsigned)form.displacement % ALIGNMENT);
	if (form.base == OPERAND_NEXT) {
		pc += (size_t)(end - code);
		demand.offset = (uint8_t)((demand.offset + pc) % ALIGNMENT);
		form.base = OPERAND_NONE;
		if (!demand.offset)
			return true;
	}
	return add_part(walk, form.base, 0, &demand.base, &demand) &&
	       add_part(walk, form.index, form.shift, &demand.index, &demand) &&
	       add_demand(walk, &demand);
}

static void walk_over(struct walk *walk, guest_addr pc, const uint8_t *code,
		      const uint8_t *end)
{
	bool rep;
	const uint8_t *opcode = skip_prefixes(code, end, &rep);

	if (align_wants(code, opcode, end) &&
	    !demand_of(walk, pc, code, opcode, end)) {
		walk->loose.is_first |= !walk->index;
		walk->loose.last = (uint16_t)walk->index;
		if (!walk->loose.next)
			walk->loose.next = (uint16_t)walk->index;
	}
	if (!take(walk, pc, code, opcode, end))
		forget_written(walk, pc, code, (size_t)(end - code));
	walk->index++;
}

struct loose x86_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			 size_t size, unsigned count, struct demand *out,
			 unsigned room, unsigned *found)
{
	struct walk walk = { .cpu = cpu, .out = out, .room = room };

	for (int8_t i = 0; i < 16; i++)
		walk.regs[i].from = i;
	for (size_t at = 0, step; at < size && walk.index < count; at += step) {
		step = x86_size(cpu, code + at, size - at, pc + at);
		if (!step)
			break;
		walk_over(&walk, pc + at, code + at, code + at + step);
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
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t left = x86_fetch(cpu, pc, code, &opcode);

	*size = (unsigned)x86_length(code, left);
	return align_is_met(cpu, pc, code, opcode, code + *size);
}
