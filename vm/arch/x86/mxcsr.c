/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mxcsr.c - MXCSR and the status word of x87, as they should be
 *
 * The engine (2.1.1) raises flags of exceptions in its floating-point units,
 * but does not show them in the registers; and MXCSR's FZ reaches the wrong
 * one of its units, x87's.  What is true of SSE is MXCSR and the unit's flags
 * together, of x87 the unit's flags alone: FDIV also sets ZE in the register,
 * for 0/0, too.  The denormal flag and that of the stack, which units have
 * not, are only in the registers.
 *
 * Source: Intel 64 SDM volume 1, 8.1.3 (status word), 10.2.3 (MXCSR).
 */
#include "vm/arch/x86/x86.h"

#define MXCSR_FZ 0x8000u

#define UNIT_FLUSHED 0x80u	/* a result, to zero: underflow, inexact */
#define UNDERFLOW_INEXACT 0x30u

#define STATUS_UNMASKED 0x8080u	/* ES, B */
#define ALL_EXCEPTIONS 0x3fu

static unsigned raised(const struct float_unit *unit)
{
	unsigned flags = *unit->raised & FLOAT_UNIT_FLAGS;

	return *unit->raised & UNIT_FLUSHED ? flags | UNDERFLOW_INEXACT : flags;
}

uint32_t x86_mxcsr(struct cpu *cpu)
{
	uint32_t value = 0;

	engine_read(cpu->engine, X86_MXCSR, &value);
	return value | raised(&engine_x86(cpu->engine)->sse);
}

void x86_set_mxcsr(struct cpu *cpu, uint32_t value)
{
	engine_write(cpu->engine, X86_MXCSR, &value);
	*engine_x86(cpu->engine)->sse.flush = value & MXCSR_FZ ? 1 : 0;
	*engine_x86(cpu->engine)->x87.flush = 0;
	*engine_x86(cpu->engine)->sse.raised = value & FLOAT_UNIT_FLAGS;
}

uint16_t x86_status(struct cpu *cpu)
{
	uint16_t status = 0, control = 0;

	engine_read(cpu->engine, X86_FPSW, &status);
	engine_read(cpu->engine, X86_FPCW, &control);
	status &= (uint16_t)~(FLOAT_UNIT_FLAGS | STATUS_UNMASKED);
	status |= (uint16_t)raised(&engine_x86(cpu->engine)->x87);
	if (status & ~control & ALL_EXCEPTIONS)
		status |= STATUS_UNMASKED;
	return status;
}

void x86_set_status(struct cpu *cpu, uint16_t value)
{
	engine_write(cpu->engine, X86_FPSW, &value);
	*engine_x86(cpu->engine)->x87.raised = value & FLOAT_UNIT_FLAGS;
}

/* The engine's own effects depend on no flag. */
void x86_show_sse(struct cpu *cpu)
{
	*engine_x86(cpu->engine)->mxcsr |=
		(uint8_t)raised(&engine_x86(cpu->engine)->sse);
}

void x86_show_flags(struct cpu *cpu)
{
	uint16_t status = x86_status(cpu);

	x86_show_sse(cpu);
	engine_write(cpu->engine, X86_FPSW, &status);
}
