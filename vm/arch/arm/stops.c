/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stops.c - what it means for a program that the processor stopped
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, A3.2.1 (alignment).
 */
#include "vm/arch/arm/arm.h"

#include <time.h>

#include "vm/arch/arm/guest.h"

/* The engine's numbers of exceptions (QEMU's EXCP_...). */
enum {
	EXCEPTION_UNDEFINED = 1,
	EXCEPTION_DATA = 4,
	EXCEPTION_BREAKPOINT = 7,
};

/* Of an access that must be aligned and is not, the engine says no more. */
static void misaligned(struct cpu *cpu, struct vm_stop *stop)
{
	struct arm_code insn = arm_fetch(cpu, stop->pc);

	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_ALIGNMENT;
	stop->detail = ARM_FAULT_ALIGN;
	if (!insn.size || arm_is_astray(stop->pc, insn.is_thumb) ||
	    !arm_operand(cpu, stop->pc, &insn, &stop->addr))
		stop->addr = stop->pc;
}

/* ------- instructions that the gate holds back ------- */

/* An instruction is over, in an IT block perhaps. */
static void advance(struct cpu *cpu)
{
	arm_write_reg(cpu, ARM_CPSR,
		      arm_it_advanced((uint32_t)arm_read_reg(cpu, ARM_CPSR)));
}

static enum performed perform(struct cpu *cpu, const struct arm_code *insn,
			      struct vm_stop *stop)
{
	bool is_met = arm_is_met(cpu, insn);

	switch (arm_special(insn)) {
	case SPECIAL_COUNTER:
		if (!is_met)
			break;
		stop->kind = VM_STOP_VALUE;
		stop->detail = VALUE_COUNTER;
		stop->is_clock = true;
		return PERFORMED_NOT;
	case SPECIAL_FREQUENCY:
		if (is_met)
			arm_write_reg(cpu, ARM_R0 + (insn->word >> 12 & 15),
				      COUNTER_FREQUENCY);
		break;
	case SPECIAL_WAIT:
	case SPECIAL_PAUSE:
		break;
	case SPECIAL_UNDEFINED:
		if (!is_met)
			break;
		/* fall through */
	case SPECIAL_NONE:
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_INVALID;
		return PERFORMED_NOT;
	}
	advance(cpu);
	return PERFORMED;
}

enum performed arm_explain(struct cpu *cpu, struct vm_stop *stop)
{
	struct arm_code insn = arm_fetch(cpu, stop->pc);

	if (arm_is_astray(stop->pc, insn.is_thumb)) {
		misaligned(cpu, stop);
		return PERFORMED_NOT;
	}
	stop->size = insn.size;
	return perform(cpu, &insn, stop);
}

/* The counter's lower half and its higher one. */
void arm_capture(struct cpu *cpu, const struct vm_stop *stop)
{
	const uint64_t second = UINT64_C(1000000000);
	uint32_t word = arm_fetch(cpu, stop->pc).word;
	struct timespec now;
	uint64_t value;

	clock_gettime(CLOCK_MONOTONIC, &now);
	value = (uint64_t)now.tv_sec * COUNTER_FREQUENCY +
		(uint64_t)now.tv_nsec / (second / COUNTER_FREQUENCY);
	arm_write_reg(cpu, ARM_R0 + (word >> 12 & 15), (uint32_t)value);
	arm_write_reg(cpu, ARM_R0 + (word >> 16 & 15), value >> 32);
	advance(cpu);
}

unsigned arm_call_size(struct cpu *cpu)
{
	return arm_is_in_thumb(cpu) ? 2 : 4;
}

void arm_syscall(struct cpu *cpu, struct vm_stop *stop)
{
	arm_resumes(cpu);
	stop->size = arm_call_size(cpu);
}

/* ------- faults ------- */

/* Exclusive ones: of how many bytes, also those of two words. */
static unsigned exclusive_size(const struct arm_code *insn)
{
	static const uint8_t of_arm[] = { 4, 8, 1, 2 };
	unsigned kind = insn->word >> 4 & 15;

	if (!insn->is_thumb)
		return of_arm[insn->word >> 21 & 3];
	if (!(insn->word & 0x00800000))
		return 4;
	return kind == 7 ? 8 : kind == 5 ? 2 : 1;
}

static bool is_misaligned(const struct arm_code *insn, guest_addr addr)
{
	return arm_is_exclusive(insn) && addr % exclusive_size(insn);
}

void arm_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop)
{
	switch (number) {
	case EXCEPTION_DATA:
		misaligned(cpu, stop);
		break;
	case EXCEPTION_BREAKPOINT:
		stop->fault = FAULT_BREAKPOINT;
		break;
	case EXCEPTION_UNDEFINED:
	default:
		stop->fault = FAULT_INVALID;
	}
}

/* An access may begin on the page before.  Being aligned comes first. */
void arm_memory_fault(struct cpu *cpu, guest_addr page, struct vm_stop *stop)
{
	bool is_thumb = arm_is_in_thumb(cpu);
	struct arm_code insn;
	guest_addr addr;

	stop->fault = FAULT_MEMORY;
	stop->addr = page;
	if (arm_is_astray(stop->pc, is_thumb)) {
		misaligned(cpu, stop);
		return;
	}
	if (stop->access == ACCESS_FETCH) {
		stop->addr = page > stop->pc ? page : stop->pc;
		return;
	}
	insn = arm_fetch(cpu, stop->pc);
	if (!insn.size || !arm_operand(cpu, stop->pc, &insn, &addr))
		return;
	if (is_misaligned(&insn, addr))
		misaligned(cpu, stop);
	else if (addr > page)
		stop->addr = addr;
}
