/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system.c - what programs may do with flags and selectors
 *
 * The engine has no descriptor tables, so it knows no selectors but null ones;
 * and the trap flag would stop it in a place that cprec does not expect, so
 * POPF must not set it there, and PUSHF does not find it.
 *
 * Source: Intel 64 SDM volume 2, MOV, POPF; volume 3, 5.5.
 */
#include "formats/processor.h"
#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/x86.h"

#include <string.h>


enum {
	OPCODE_STORE_SELECTOR = 0x8c,
	OPCODE_LOAD_SELECTOR = 0x8e,
	OPCODE_PUSH_FLAGS = 0x9c,
	OPCODE_POP_FLAGS = 0x9d,
};

/* ------- flags ------- */

static bool pop_flags(struct cpu *cpu, const struct x86_parts *insn,
		      struct vm_stop *stop)
{
	unsigned size = insn->is_short ? 2 : x86_word(cpu);
	uint64_t mask = X86_FLAGS_OWN & (insn->is_short ? 0xffff : UINT64_MAX);
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS), value = 0;
	guest_addr rsp = x86_read_reg(cpu, X86_RSP);

	if (cpu->behaviour >= BEHAVIOUR_STEPS)
		mask |= X86_FLAG_TF;
	if (x86_operand_faults(cpu, rsp, size, ACCESS_READ, stop))
		return false;
	cpu_load(cpu, rsp, &value, size);
	x86_write_reg(cpu, X86_RFLAGS, (flags & ~mask) | (value & mask));
	x86_write_reg(cpu, X86_RSP, x86_wrap(cpu, rsp + size));
	return true;
}

/* RF and VM are not shown. */
static bool push_flags(struct cpu *cpu, const struct x86_parts *insn,
		       struct vm_stop *stop)
{
	unsigned size = insn->is_short ? 2 : x86_word(cpu);
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS) & ~UINT64_C(0x30000);
	guest_addr rsp = x86_wrap(cpu, x86_read_reg(cpu, X86_RSP) - size);
	uint8_t bytes[sizeof(flags)];

	memcpy(bytes, &flags, sizeof(bytes));
	if (x86_operand_faults(cpu, rsp, size, ACCESS_WRITE, stop))
		return false;
	cpu_store(cpu, rsp, bytes, size);
	x86_write_reg(cpu, X86_RSP, rsp);
	return true;
}

bool x86_shows_steps(struct cpu *cpu, guest_addr pc)
{
	struct x86_code code;

	x86_fetch(cpu, pc, &code);
	return code.insn.map == MAP_ONE &&
	       code.insn.opcode == OPCODE_PUSH_FLAGS;
}

bool x86_goes_on(struct cpu *cpu, guest_addr pc)
{
	uint64_t count = x86_read_reg(cpu, X86_RCX);
	struct x86_code code;

	x86_fetch(cpu, pc, &code);
	if (!code.insn.short_address)
		return count;
	return x86_is_32(cpu) ? (uint16_t)count : (uint32_t)count;
}

/* ------- selectors ------- */

/* By their numbers in the encoding. */
static const uint8_t by_group[8] = { X86_ES, X86_CS, X86_SS,
				     X86_DS, X86_FS, X86_GS };

/* The general register that ModR/M names. */
static void *general(struct cpu *cpu, const struct x86_parts *insn)
{
	return (uint8_t *)engine_x86(cpu->engine)->general + 8 * insn_rm(insn);
}

/* The word in memory that ModR/M names; false if it cannot be accessed. */
static bool find_word(struct cpu *cpu, const struct x86_code *code,
		      enum vm_access access, guest_addr *addr,
		      struct vm_stop *stop)
{
	unsigned size;

	if (!x86_operand(cpu, code, addr, &size))
		return x86_refuse(stop);
	return !x86_operand_faults(cpu, *addr, 2, access, stop);
}

static bool store_selector(struct cpu *cpu, const struct x86_code *code,
			   struct vm_stop *stop)
{
	const struct x86_parts *insn = &code->insn;
	uint64_t value = x86_read_reg(cpu, by_group[insn_group(insn)]);
	uint8_t bytes[sizeof(value)];
	guest_addr addr;

	memcpy(bytes, &value, sizeof(bytes));
	if (insn_names_register(insn)) {
		memcpy(general(cpu, insn), bytes, insn->is_short ? 2 : 8);
		return true;
	}
	if (!find_word(cpu, code, ACCESS_WRITE, &addr, stop))
		return false;
	cpu_store(cpu, addr, bytes, 2);
	return true;
}

/* In code of 64 bits, nothing remembers what DS and ES are loaded with: it has
 * no effect. */
static bool may_load(unsigned reg, uint16_t value)
{
	if (reg == X86_SS)
		return value == X86_USER_DS;
	return value <= 3 || segments_is_flat(value);
}

static bool load_selector(struct cpu *cpu, const struct x86_code *code,
			  struct vm_stop *stop)
{
	const struct x86_parts *insn = &code->insn;
	unsigned reg = by_group[insn_group(insn)];
	uint16_t value;
	guest_addr addr;

	if (insn_names_register(insn)) {
		memcpy(&value, general(cpu, insn), sizeof(value));
	} else {
		if (!find_word(cpu, code, ACCESS_READ, &addr, stop))
			return false;
		cpu_load(cpu, addr, &value, sizeof(value));
	}
	if (x86_is_32(cpu) ? segments_load(cpu, reg, value) :
			     may_load(reg, value))
		return true;
	return x86_refuse(stop);
}

/* ------- PUSH and POP of selectors, in code of 32 bits ------- */

static bool pushes(const struct x86_parts *insn)
{
	return insn->map == MAP_0F ? (insn->opcode & 1) == 0 :
				     (insn->opcode & 7) == 6;
}

static unsigned stacked_reg(const struct x86_parts *insn)
{
	return by_group[insn->opcode >> 3 & 7];
}

/* Only the selector is written, not what is above it. */
static bool push_selector(struct cpu *cpu, const struct x86_parts *insn,
			  struct vm_stop *stop)
{
	unsigned size = insn->is_short ? 2 : 4;
	guest_addr sp = x86_wrap(cpu, x86_read_reg(cpu, X86_RSP) - size);
	uint16_t value = (uint16_t)x86_read_reg(cpu, stacked_reg(insn));

	if (x86_operand_faults(cpu, sp, 2, ACCESS_WRITE, stop))
		return false;
	cpu_store(cpu, sp, &value, sizeof(value));
	x86_write_reg(cpu, X86_RSP, sp);
	return true;
}

static bool pop_selector(struct cpu *cpu, const struct x86_parts *insn,
			 struct vm_stop *stop)
{
	unsigned size = insn->is_short ? 2 : 4;
	guest_addr sp = x86_read_reg(cpu, X86_RSP);
	uint16_t value;

	if (x86_operand_faults(cpu, sp, 2, ACCESS_READ, stop))
		return false;
	cpu_load(cpu, sp, &value, sizeof(value));
	if (!segments_load(cpu, stacked_reg(insn), value))
		return x86_refuse(stop);
	x86_write_reg(cpu, X86_RSP, x86_wrap(cpu, sp + size));
	return true;
}

/* ------- all of them ------- */

/* Of those that classes.c has x86_emulate() perform. */
static bool is_stacked(const struct x86_parts *insn)
{
	if (!insn->is_32)
		return false;
	return insn->map == MAP_0F ? (insn->opcode & 0xf6) == 0xa0 :
				     insn->map == MAP_ONE &&
				     insn->opcode < 0x20 &&
				     (insn->opcode & 6) == 6;
}

bool x86_system_knows(const struct x86_parts *insn)
{
	if (is_stacked(insn))
		return true;
	return insn->map == MAP_ONE && (insn->opcode == OPCODE_STORE_SELECTOR ||
					insn->opcode == OPCODE_LOAD_SELECTOR ||
					insn->opcode == OPCODE_PUSH_FLAGS ||
					insn->opcode == OPCODE_POP_FLAGS);
}

bool x86_system(struct cpu *cpu, const struct x86_code *code,
		struct vm_stop *stop)
{
	if (is_stacked(&code->insn))
		return pushes(&code->insn) ?
			       push_selector(cpu, &code->insn, stop) :
			       pop_selector(cpu, &code->insn, stop);
	switch (code->insn.opcode) {
	case OPCODE_POP_FLAGS:
		return pop_flags(cpu, &code->insn, stop);
	case OPCODE_PUSH_FLAGS:
		return push_flags(cpu, &code->insn, stop);
	case OPCODE_STORE_SELECTOR:
		return store_selector(cpu, code, stop);
	default:
		return load_selector(cpu, code, stop);
	}
}
