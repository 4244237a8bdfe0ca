/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plain.c - of an architecture that needs little: see arch.h */
#include "vm/arch/arch.h"

#include <string.h>

#include "formats/error.h"

void plain_registers(struct cpu *cpu, struct reg_file *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < cpu->regs->count; reg++) {
		const struct reg_info *info = &cpu->regs->regs[reg];

		if (info->size <= 8)
			reg_set(cpu->regs, out, reg, cpu->arch->reg(cpu, reg));
		else
			engine_read(cpu->engine, reg,
				    out->bytes + info->offset);
	}
}

void plain_set_registers(struct cpu *cpu, const struct reg_file *regs)
{
	for (unsigned reg = 0; reg < cpu->regs->count; reg++) {
		const struct reg_info *info = &cpu->regs->regs[reg];

		if (info->size <= 8)
			cpu->arch->set_reg(cpu, reg,
					   reg_get(cpu->regs, regs, reg));
		else
			engine_write(cpu->engine, reg,
				     regs->bytes + info->offset);
	}
}

void plain_left(struct cpu *cpu)
{
	(void)cpu;
}

struct loose plain_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			   size_t size, unsigned count, struct demand *out,
			   unsigned room, unsigned *found)
{
	(void)cpu;
	(void)pc;
	(void)code;
	(void)size;
	(void)count;
	(void)out;
	(void)room;
	*found = 0;
	return (struct loose){ 0 };
}

unsigned plain_low_bits(struct cpu *cpu, int reg)
{
	return (unsigned)cpu->arch->reg(cpu, (unsigned)reg);
}

enum before plain_before(struct cpu *cpu, const struct engine_call *call,
			 struct vm_stop *stop)
{
	(void)cpu;
	(void)call;
	(void)stop;
	return BEFORE_RUNS;
}

enum performed plain_perform(struct cpu *cpu, struct vm_stop *stop)
{
	(void)cpu;
	(void)stop;
	return PERFORMED_BY_ENGINE;
}

bool plain_is_aligned(struct cpu *cpu, guest_addr pc, unsigned *size)
{
	(void)cpu;
	(void)pc;
	*size = 0;
	return true;
}

bool plain_never(struct cpu *cpu, guest_addr pc)
{
	(void)cpu;
	(void)pc;
	return false;
}

unsigned plain_call_size(struct cpu *cpu)
{
	return cpu->regs->call_size;
}
