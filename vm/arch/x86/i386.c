/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386.c - the processor as programs of i386 see it
 *
 * It is x86-64's, in a code segment of 32 bits.  Programs have fewer registers,
 * and narrower ones; those that a kernel keeps for their segments are here, too.
 */
#include <string.h>

#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/x86.h"

#define EIGHT(first) (first), (first) + 1, (first) + 2, (first) + 3, \
	(first) + 4, (first) + 5, (first) + 6, (first) + 7

/* The same registers of x86-64. */
static const uint8_t wide[I386_TLS0] = {
	[I386_EAX] = X86_RAX, [I386_EBX] = X86_RBX, [I386_ECX] = X86_RCX,
	[I386_EDX] = X86_RDX, [I386_ESI] = X86_RSI, [I386_EDI] = X86_RDI,
	[I386_EBP] = X86_RBP, [I386_ESP] = X86_RSP, [I386_EIP] = X86_RIP,
	[I386_EFLAGS] = X86_RFLAGS,
	[I386_CS] = X86_CS, X86_SS, X86_DS, X86_ES, X86_FS, X86_GS,
	[I386_FS_BASE] = X86_FS_BASE, [I386_GS_BASE] = X86_GS_BASE,
	[I386_FPCW] = X86_FPCW, X86_FPSW, X86_FPTAG, X86_MXCSR,
	[I386_ST0] = EIGHT(X86_ST0), [I386_XMM0] = EIGHT(X86_XMM0),
	[I386_FIP] = X86_FIP, [I386_FDP] = X86_FDP,
};

static uint64_t narrow(const struct cpu *cpu, unsigned reg, uint64_t value)
{
	return value & UINT64_MAX >> (64 - 8 * cpu->regs->regs[reg].size);
}

static uint64_t read_reg(struct cpu *cpu, unsigned reg)
{
	if (reg >= I386_TLS0)
		return segments_descriptor(cpu, reg - I386_TLS0);
	return narrow(cpu, reg, x86_read_reg(cpu, wide[reg]));
}

static void write_reg(struct cpu *cpu, unsigned reg, uint64_t value)
{
	if (reg >= I386_TLS0)
		segments_set_descriptor(cpu, reg - I386_TLS0, value);
	else if (I386_CS <= reg && reg <= I386_GS)
		segments_set_selector(cpu, wide[reg], (uint16_t)value);
	else
		x86_write_reg(cpu, wide[reg], narrow(cpu, reg, value));
}

static void registers(struct cpu *cpu, struct reg_file *out)
{
	const struct reg_info *from = x86_table()->regs;
	const struct reg_info *to = cpu->regs->regs;
	struct reg_file all;

	x86_registers(cpu, &all);
	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < I386_TLS0; reg++)
		memcpy(out->bytes + to[reg].offset,
		       all.bytes + from[wide[reg]].offset, to[reg].size);
	for (unsigned reg = I386_TLS0; reg <= I386_TLS2; reg++)
		reg_set(cpu->regs, out, reg, read_reg(cpu, reg));
}

static void set_registers(struct cpu *cpu, const struct reg_file *regs)
{
	const struct reg_info *from = cpu->regs->regs;
	const struct reg_info *to = x86_table()->regs;
	struct reg_file all = { { 0 } };

	for (unsigned reg = 0; reg < I386_REG_COUNT; reg++) {
		if (reg >= I386_TLS0 || (I386_CS <= reg && reg <= I386_GS))
			write_reg(cpu, reg, reg_get(cpu->regs, regs, reg));
		else
			memcpy(all.bytes + to[wide[reg]].offset,
			       regs->bytes + from[reg].offset, from[reg].size);
	}
	x86_set_registers(cpu, &all);
}

const struct architecture arch_i386 = {
	X86_ARCHITECTURE,
	.reg = read_reg,
	.set_reg = write_reg,
	.registers = registers,
	.set_registers = set_registers,
};
