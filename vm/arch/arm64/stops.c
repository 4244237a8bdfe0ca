/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stops.c - what it means for a program that the processor stopped
 *
 * Source: Linux, Documentation/arch/arm64/cpu-feature-registers.rst, for the
 * registers that it reads for programs.
 */
#include "vm/arch/arm64/arm64.h"

#include <time.h>

#include "vm/arch/arm64/guest.h"

/* The engine's numbers of exceptions (QEMU's EXCP_...). */
enum {
	EXCEPTION_UNDEFINED = 1,
	EXCEPTION_DATA = 4,
	EXCEPTION_BREAKPOINT = 7,
};

/* ------- instructions that the gate holds back ------- */

#define ID(crm, op2) ((crm) << 3 | (op2))

/* What Linux shows of a Cortex-A72; all else is 0. */
static uint64_t id_value(unsigned name)
{
	switch (name & 0x7f) {
	case ID(0, 0):
		return ARM64_MIDR;
	case ID(0, 5):
		return UINT64_C(0x80000000);	/* MPIDR_EL1 */
	case ID(4, 0):
		return 0x11;			/* ID_AA64PFR0_EL1 */
	case ID(5, 0):
		return 0x6;			/* ID_AA64DFR0_EL1 */
	case ID(6, 0):
		return 0x11120;			/* ID_AA64ISAR0_EL1 */
	default:
		return 0;
	}
}

/* Of an access that must be aligned and is not, the engine says no more. */
static void misaligned(struct cpu *cpu, struct vm_stop *stop)
{
	uint32_t word;

	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_ALIGNMENT;
	stop->detail = ARM64_FAULT_ALIGN;
	if (arm64_is_astray(stop->pc) ||
	    !arm64_fetch(cpu, stop->pc, &word) ||
	    !arm64_operand(cpu, stop->pc, word, &stop->addr))
		stop->addr = stop->pc;
}

enum performed arm64_explain(struct cpu *cpu, struct vm_stop *stop)
{
	uint32_t word = 0;

	if (arm64_is_astray(stop->pc)) {
		misaligned(cpu, stop);
		return PERFORMED_NOT;
	}
	arm64_fetch(cpu, stop->pc, &word);
	stop->size = ARM64_INSN_SIZE;
	switch (arm64_special(word)) {
	case SPECIAL_COUNTER:
		stop->kind = VM_STOP_VALUE;
		stop->detail = VALUE_COUNTER;
		stop->is_clock = true;
		return PERFORMED_NOT;
	case SPECIAL_FREQUENCY:
		arm64_set_general(cpu, word & 31, COUNTER_FREQUENCY);
		return PERFORMED;
	case SPECIAL_ID:
		arm64_resumes(cpu);
		arm64_set_general(cpu, word & 31, id_value(word >> 5));
		return PERFORMED;
	case SPECIAL_WAIT:
		return PERFORMED;
	case SPECIAL_NONE:
		break;
	}
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_INVALID;
	return PERFORMED_NOT;
}

void arm64_capture(struct cpu *cpu, const struct vm_stop *stop)
{
	const uint64_t second = UINT64_C(1000000000);
	struct timespec now;
	uint32_t word = 0;

	arm64_fetch(cpu, stop->pc, &word);
	clock_gettime(CLOCK_MONOTONIC, &now);
	arm64_set_general(cpu, word & 31,
			  (uint64_t)now.tv_sec * COUNTER_FREQUENCY +
				  (uint64_t)now.tv_nsec /
					  (second / COUNTER_FREQUENCY));
}

void arm64_syscall(struct cpu *cpu, struct vm_stop *stop)
{
	arm64_resumes(cpu);
	stop->size = ARM64_INSN_SIZE;
}

/* ------- faults ------- */

/* Exclusive ones, of a pair also, and those that acquire or release. */
static bool is_misaligned(uint32_t word, guest_addr addr)
{
	bool is_pair = (word & 0x3fa00000) == 0x08200000;

	return (word & 0x3f000000) == 0x08000000 &&
	       addr & ((UINT64_C(1) << ((word >> 30) + is_pair)) - 1);
}

void arm64_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop)
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
void arm64_memory_fault(struct cpu *cpu, guest_addr page, struct vm_stop *stop)
{
	uint32_t word;
	guest_addr addr;

	stop->fault = FAULT_MEMORY;
	stop->addr = page;
	if (arm64_is_astray(stop->pc))
		misaligned(cpu, stop);
	else if (stop->access == ACCESS_FETCH)
		stop->addr = page > stop->pc ? page : stop->pc;
	else if (!arm64_fetch(cpu, stop->pc, &word) ||
		 !arm64_operand(cpu, stop->pc, word, &addr))
		return;
	else if (is_misaligned(word, addr))
		misaligned(cpu, stop);
	else if (addr > page)
		stop->addr = addr;
}
