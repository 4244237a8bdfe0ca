/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86.c - the processor that the guest sees: its registers and values */
#include "vm/arch/x86/x86.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/processor.h"
#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/host.h"

/* ------- registers ------- */

/*
 * Selectors are what Linux gives a 64-bit program; the engine, which has no
 * descriptor table to load them from, is not asked.
 */
static uint64_t selector(const struct cpu *cpu, unsigned reg)
{
	if (x86_is_32(cpu))
		return segments_selector(cpu, reg);
	switch (reg) {
	case X86_CS:
		return X86_USER_CS;
	case X86_SS:
		return X86_USER_DS;
	default:
		return 0;
	}
}

static bool is_selector(unsigned reg)
{
	return X86_CS <= reg && reg <= X86_GS;
}

/* What a program cannot clear: interrupts are on, bit 1 is always set. */
#define RFLAGS_FIXED UINT64_C(0x202)

/* Clears flags that would stop the engine. */
void x86_mend_flags(struct cpu *cpu)
{
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS);

	const uint64_t kept = X86_FLAGS_OWN | RFLAGS_FIXED |
			      (cpu->own.steps ? X86_FLAG_TF : 0);

	if (flags & ~kept)
		x86_write_reg(cpu, X86_RFLAGS, flags & kept);
}

/* Nothing is forgotten then. */
void x86_resumes(struct cpu *cpu)
{
	(void)cpu;
}

static uint64_t flags_of(const struct cpu *cpu, uint64_t engine)
{
	return engine | RFLAGS_FIXED | (cpu->own.steps ? X86_FLAG_TF : 0);
}

/* What the engine gets; it had TF, too, in the first behaviour. */
static uint64_t take_flags(struct cpu *cpu, uint64_t flags)
{
	if (cpu->behaviour < BEHAVIOUR_STEPS)
		return flags;
	cpu->own.steps = flags & X86_FLAG_TF;
	return flags & ~X86_FLAG_TF;
}

uint64_t x86_read_reg(struct cpu *cpu, unsigned reg)
{
	uint8_t bytes[16] = { 0 };
	uint64_t value;

	if (is_selector(reg))
		return selector(cpu, reg);
	if (reg == X86_MXCSR)
		return x86_mxcsr(cpu);
	if (reg == X86_FPSW)
		return x86_status(cpu);
	engine_read(cpu->engine, reg, bytes);
	memcpy(&value, bytes, sizeof(value));
	return reg == X86_RFLAGS ? flags_of(cpu, value) : value;
}

void x86_write_reg(struct cpu *cpu, unsigned reg, uint64_t value)
{
	if (is_selector(reg))
		return;
	if (reg == X86_MXCSR)
		x86_set_mxcsr(cpu, (uint32_t)value);
	else if (reg == X86_FPSW)
		x86_set_status(cpu, (uint16_t)value);
	else {
		if (reg == X86_RFLAGS)
			value = take_flags(cpu, value);
		engine_write(cpu->engine, reg, &value);
	}
}

const struct reg_table *x86_table(void)
{
	return reg_table(ARCH_X86_64);
}

void x86_registers(struct cpu *cpu, struct reg_file *out)
{
	const struct reg_table *table = x86_table();

	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];
		uint8_t bytes[16] = { 0 };

		if (info->size <= 8) {
			reg_set(table, out, reg, x86_read_reg(cpu, reg));
			continue;
		}
		engine_read(cpu->engine, reg, bytes);
		memcpy(out->bytes + info->offset, bytes, info->size);
	}
}

/* The table has the x87 status word, with the stack's top, before the stack. */
void x86_set_registers(struct cpu *cpu, const struct reg_file *regs)
{
	const struct reg_table *table = x86_table();

	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];
		uint8_t bytes[16] = { 0 };

		if (is_selector(reg) || reg == X86_FPTAG || reg == X86_MXCSR)
			continue;
		if (reg == X86_RFLAGS) {
			x86_write_reg(cpu, reg, reg_get(table, regs, reg));
			continue;
		}
		memcpy(bytes, regs->bytes + info->offset, info->size);
		engine_write(cpu->engine, reg, bytes);
	}
	/* Last: the engine marks a stack register in use when it is written. */
	x86_write_reg(cpu, X86_FPTAG, reg_get(table, regs, X86_FPTAG));
	x86_write_reg(cpu, X86_FPSW, reg_get(table, regs, X86_FPSW));
	x86_write_reg(cpu, X86_MXCSR, reg_get(table, regs, X86_MXCSR));
	if (trap_unmasks(x86_mxcsr(cpu), (uint16_t)x86_read_reg(cpu, X86_FPCW)))
		float_watch_math(cpu);
}

/* ------- instructions whose result is captured ------- */

void x86_capture(struct cpu *cpu, const struct vm_stop *stop)
{
	struct vm_cpuid id;
	uint64_t now;

	switch (stop->detail) {
	case VALUE_TSCP:
		/* The node, which is 0, would be above 12 bits. */
		x86_write_reg(cpu, X86_RCX, cpu->number & 0xfff);
		/* fall through */
	case VALUE_TSC:
		now = __builtin_ia32_rdtsc();
		x86_write_reg(cpu, X86_RAX, (uint32_t)now);
		x86_write_reg(cpu, X86_RDX, now >> 32);
		break;
	case VALUE_HOST:
		x86_on_host(cpu, stop);
		break;
	case VALUE_CPUID:
		id = vm_cpuid((uint32_t)x86_read_reg(cpu, X86_RAX),
			      (uint32_t)x86_read_reg(cpu, X86_RCX));
		x86_write_reg(cpu, X86_RAX, id.eax);
		x86_write_reg(cpu, X86_RBX, id.ebx);
		x86_write_reg(cpu, X86_RCX, id.ecx);
		x86_write_reg(cpu, X86_RDX, id.edx);
	}
}

/* ------- the architecture ------- */

void x86_end(struct cpu *cpu)
{
	struct x86 *x86 = x86_of(cpu);

	if (!x86)
		return;
	host_release(cpu);
	if (x86->insn)
		cs_free(x86->insn, 1);
	if (x86->decoder)
		cs_close(&x86->decoder);
	free(x86);
	cpu->state = NULL;
}

int x86_start(struct cpu *cpu, struct failure *why)
{
	struct x86 *x86 = calloc(1, sizeof(*x86));
	cs_err err;

	if (!x86)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	cpu->state = x86;
	err = cs_open(CS_ARCH_X86, x86_is_32(cpu) ? CS_MODE_32 : CS_MODE_64,
		      &x86->decoder);
	if (!err)
		err = cs_option(x86->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (!err)
		x86->insn = cs_malloc(x86->decoder);
	if (err || !x86->insn)
		return failed(why, ERR_SYSTEM, "cannot start the decoder: %s",
			      cs_strerror(err));
	return 0;
}

const struct architecture arch_x86 = {
	X86_ARCHITECTURE,
	.reg = x86_read_reg,
	.set_reg = x86_write_reg,
	.registers = x86_registers,
	.set_registers = x86_set_registers,
};
