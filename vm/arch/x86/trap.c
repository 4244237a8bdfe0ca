/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trap.c - floating-point exceptions that the guest has unmasked
 *
 * The engine raises none.  While one is unmasked, each instruction that may
 * raise it is first tried on the host's processor, which knows.  One of SSE
 * that traps does not happen at all.  One of x87 that raises an exception
 * leaves what the host says, and the next that looks traps.
 *
 * Source: Intel 64 SDM volume 1, 8.6, 8.7 (x87), 11.5 (SSE).
 */
#include <string.h>

#include "vm/arch/x86/x86.h"
#include "vm/arch/x86/host.h"

#define ALL_EXCEPTIONS 0x3fu
#define UNDERFLOW 0x10u
#define MXCSR_MASKS 7		/* where they begin */
#define STATUS_PENDING 0x80u	/* ES */
#define STATUS_UNMASKED 0x8080u	/* ES, B */
#define RBX_FAR 0x83		/* ModR/M: [rbx + disp32] */

/* An instruction, made fit for host_run(). */
struct attempt {
	struct fx_image image;
	struct host_regs regs;
	uint8_t insn[X86_INSN_MOST + 5];
	unsigned size;
	guest_addr operand;
	unsigned operand_size;	/* 0: none in memory */
};

static unsigned unmasked_sse(uint32_t mxcsr)
{
	return ~(mxcsr >> MXCSR_MASKS) & ALL_EXCEPTIONS;
}

bool trap_unmasks(uint32_t mxcsr, uint16_t control)
{
	return unmasked_sse(mxcsr) || (~control & ALL_EXCEPTIONS);
}

static bool is_x87(const struct x86_parts *insn)
{
	return insn->map == MAP_ONE && (insn->opcode & 0xf8) == 0xd8;
}

/* CVTSI2SS and CVTSI2SD; their converses */
static bool is_from_integer(const struct x86_parts *insn)
{
	return insn->map == MAP_0F && insn->opcode == 0x2a;
}

static bool is_to_integer(const struct x86_parts *insn)
{
	return insn->map == MAP_0F && (insn->opcode == 0x2c ||
				       insn->opcode == 0x2d);
}

static void put(struct attempt *attempt, uint8_t byte)
{
	attempt->insn[attempt->size++] = byte;
}

/* Prefixes that belong to the opcode, and REX without what names an address. */
static void put_prefixes(struct attempt *attempt, const struct x86_parts *insn,
			 unsigned drop)
{
	for (unsigned i = 0; i < insn->opcode_at; i++) {
		uint8_t byte = insn->code[i];

		if (byte == 0x66 || byte == 0xf2 || byte == 0xf3)
			put(attempt, byte);
	}
	if (insn->rex)
		put(attempt, (uint8_t)(insn->rex & ~drop));
}

/* False if the instruction cannot be tried: the engine finds out why. */
static bool make(struct cpu *cpu, const struct x86_code *code,
		 struct attempt *attempt)
{
	const struct x86_parts *insn = &code->insn;
	bool in_memory = !insn_names_register(insn);
	unsigned drop = is_to_integer(insn) ? 7 : 3;
	uint8_t reg = insn->behind & 0x38;

	memset(&attempt->regs, 0, sizeof(attempt->regs));
	attempt->regs.flags = 0x202;
	attempt->size = attempt->operand_size = 0;
	host_load(cpu, &attempt->image);
	if (in_memory && (!x86_operand(cpu, code, &attempt->operand,
				       &attempt->operand_size) ||
			  attempt->operand_size > 16 ||
			  memory_load(cpu->memory, attempt->operand,
				      attempt->image.memory,
				      attempt->operand_size)))
		return false;
	if (!in_memory && is_from_integer(insn)) {
		memcpy(attempt->image.memory,
		       engine_x86(cpu->engine)->general + 8 * insn_rm(insn), 8);
		in_memory = true;
	}
	put_prefixes(attempt, insn,
		     in_memory ? drop : is_to_integer(insn) ? 4 : 0);
	for (unsigned i = insn->opcode_at; i < insn->behind_at; i++)
		put(attempt, insn->code[i]);
	if (is_to_integer(insn))
		reg = 0;		/* RAX, whatever it is */
	put(attempt, in_memory ? (uint8_t)(RBX_FAR | reg) :
				 (uint8_t)((insn->behind & 0xc7) | reg));
	for (unsigned i = 0; in_memory && i < 4; i++)
		put(attempt, (uint8_t)(HOST_MEMORY >> 8 * i));
	if (insn->immediate_at)		/* of CMPPS and all behind 0F 3A */
		put(attempt, insn->code[insn->immediate_at]);
	return true;
}

bool trap_sse(struct cpu *cpu, const struct x86_code *code)
{
	struct attempt attempt;
	uint32_t mxcsr = x86_mxcsr(cpu), after;
	unsigned unmasked = unmasked_sse(mxcsr);

	if (!unmasked || !make(cpu, code, &attempt))
		return false;
	attempt.image.mxcsr = (mxcsr & ~ALL_EXCEPTIONS) |
			      ALL_EXCEPTIONS << MXCSR_MASKS;
	if (!host_run(cpu, attempt.insn, attempt.size, &attempt.image,
		      &attempt.regs))
		return false;
	/* Masked, an exact result is no underflow. */
	if (!((attempt.image.mxcsr | UNDERFLOW) & unmasked) ||
	    !make(cpu, code, &attempt))
		return false;
	attempt.image.mxcsr = mxcsr & ~ALL_EXCEPTIONS;
	host_run(cpu, attempt.insn, attempt.size, &attempt.image,
		 &attempt.regs);
	after = attempt.image.mxcsr & ALL_EXCEPTIONS;
	if (!(after & unmasked))
		return false;
	x86_set_mxcsr(cpu, mxcsr | after);
	return true;
}

/* ------- x87 ------- */

bool trap_is_pending(struct cpu *cpu)
{
	return x86_status(cpu) & STATUS_PENDING;
}

static bool try_x87(struct cpu *cpu, const struct x86_code *code,
		    struct attempt *attempt)
{
	/* FWAIT looks only; the rest of two bytes are of memory or of ST. */
	if (!is_x87(&code->insn) || code->insn.size < 2 ||
	    !make(cpu, code, attempt))
		return false;
	attempt->image.status &= (uint16_t)~STATUS_UNMASKED;
	return host_run(cpu, attempt->insn, attempt->size, &attempt->image,
			&attempt->regs) &&
	       (attempt->image.status & STATUS_PENDING);
}

bool trap_x87(struct cpu *cpu, const struct x86_code *code)
{
	struct attempt attempt;

	return try_x87(cpu, code, &attempt);
}

enum performed x86_perform(struct cpu *cpu, struct vm_stop *stop)
{
	struct x86_code code;
	struct attempt attempt;

	x86_fetch(cpu, stop->pc, &code);
	stop->size = code.insn.size;
	if (!try_x87(cpu, &code, &attempt))
		return PERFORMED_BY_ENGINE;
	if (attempt.operand_size) {
		uint8_t before[16];

		memory_load(cpu->memory, attempt.operand, before,
			    attempt.operand_size);
		if (memcmp(before, attempt.image.memory,
			   attempt.operand_size) != 0) {
			if (x86_operand_faults(cpu, attempt.operand,
					       attempt.operand_size,
					       ACCESS_WRITE, stop))
				return PERFORMED_FAULTS;
			cpu_store(cpu, attempt.operand, attempt.image.memory,
				  attempt.operand_size);
		}
	}
	host_store(cpu, &attempt.image);
	return PERFORMED;
}
